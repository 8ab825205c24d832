// Holds the pages of the documentation to plain words: short sentences, and none of the phrases that must be read twice.
import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import markdownIt from 'markdown-it';
import {expect, test} from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PAGES = ['.', 'docs', 'docs/decisions'].flatMap(folder =>
  readdirSync(join(ROOT, folder))
    .filter(name => name.endsWith('.md'))
    .map(name => join(folder, name)),
);
const MOST_WORDS = 25;
/** Each has a plainer form: "two of the three", "anyone who", "alone", "is not a". */
const PHRASES =
  /\b(?:of which|of whom|that which|who(?:so)?ever|by (?:itself|themselves)|(?<!there )(?:is|are) no(?! longer\b)|as to)\b/i;
/** A clause in the place of a noun. A heading may be one. */
const CLAUSE_FIRST = /^(?:What|Who)\b.*\.$/;

/** The sentences of a page. A paragraph, an item and a cell begin one; code is one word, and a link is its text. */
function sentencesOf(markdown: string): readonly string[] {
  const texts = markdownIt()
    .parse(markdown, {})
    .filter(({type}) => type === 'inline')
    .map(({children}) =>
      (children ?? [])
        .map(({type, content}) => (type === 'code_inline' ? 'code' : type === 'softbreak' ? ' ' : content))
        .join(''),
    );
  return texts.flatMap(text => text.split(/(?<=[.!?:]["”)]?)\s+/));
}

const wordsIn = (sentence: string): number => sentence.match(/[\p{L}\p{N}]\S*/gu)?.length ?? 0;

const isPlain = (sentence: string): boolean => !PHRASES.test(sentence) && !CLAUSE_FIRST.test(sentence);

test('policy: a sentence has its words counted with code as one, and ends at a cell', () => {
  const page = 'One `two three` [four](b.md).\nFive: six\n\n| seven | eight. Nine |\n|-|-|\n| ten | |\n';
  expect(sentencesOf(page)).toEqual(['One code four.', 'Five:', 'six', 'seven', 'eight.', 'Nine', 'ten', '']);
  expect(wordsIn('One `two` – 3, four.')).toBe(4);
});

test.each(['Of which two are.', 'He is no friend.', 'Whoever asks.', 'What is asked is told.'])(
  'policy: %j has a phrase that is read twice',
  sentence => expect(isPlain(sentence)).toBe(false),
);

test.each(['It is no longer there.', 'There is no tool.', 'What decides', 'What is kept?'])(
  'policy: %j has none',
  sentence => expect(sentence).not.toMatch(PHRASES),
);

test.each(PAGES)('policy: %s has short sentences and plain phrases', page => {
  const sentences = sentencesOf(readFileSync(join(ROOT, page), 'utf8'));
  expect(sentences.filter(sentence => wordsIn(sentence) > MOST_WORDS)).toEqual([]);
  expect(sentences.filter(sentence => !isPlain(sentence))).toEqual([]);
});
