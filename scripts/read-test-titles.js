/** What precedes the title of a test or of a group of tests: `test(`, `describe.skipIf(…)(`, `])(` after `test.each([`. */
const HEAD =
  /(?<![\w.])(?:describe|test|it|browserTest)(?:\.\w+)*(?:\(.*?\))??\(\s*(?=['"`])|^\s*[\])}]*\)\(\s*(?=['"`])/gm;
const LITERAL = /(['"`])((?:\\.|(?!\1)[^\\])*)\1/y;

/** The titles of the tests and groups in the text of a test file, in their order, as they are written. */
export function readTestTitles(text) {
  const titles = [];
  for (const {0: head, index} of text.matchAll(HEAD)) {
    LITERAL.lastIndex = index + head.length;
    const title = LITERAL.exec(text)?.[2];
    if (title !== undefined) titles.push(title);
  }
  return titles;
}
