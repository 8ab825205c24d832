/** Gives each setting in a declaration file its sentence as a comment, so that editors show it where the setting is written. */

/** @param {string} text A `.d.ts` of a table of settings, as `tsc` prints it. */
export function withSettingsHover(text) {
  const lines = text.split('\n');
  /** Depth → the line that opened the object there. */
  const opened = [];
  const comments = new Map();
  for (const [at, line] of lines.entries()) {
    const depth = line.search(/\S/) / 4;
    if (/^\s*readonly \w+: \{$/.test(line)) opened[depth] = at;
    const doc = /^\s*readonly doc: (?<literal>'.*'|".*"|`.*`);$/.exec(line)?.groups?.literal;
    const owner = opened[depth - 1];
    if (doc === undefined || owner === undefined) continue;
    const sentence = doc.slice(1, -1).replace(/\\(['"`\\])/g, '$1');
    const indent = ' '.repeat(4 * (depth - 1));
    comments.set(owner, `${indent}/** ${sentence.replaceAll('*/', '*\\/')} */`);
  }
  return lines.flatMap((line, at) => (comments.has(at) ? [comments.get(at), line] : [line])).join('\n');
}

const ID =
  '(?:(?:[Rr]ulings?|[Rr]eviews?|[Cc]onformance|[Rr]ed team) [A-Z]\\d+[a-z]?|N?FR-[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)*[a-z]?|TA-[A-Z0-9-]+|SRD(?: (?:\\d|[A-Z]\\.)[\\d.]*\\d?| appendix [A-Z](?:\\.\\d)?)?|appendix [A-Z](?:\\.\\d)?|ADR(?: \\d+)?|(?<![\\w-])[A-Z]\\d{1,2}[a-z]?(?![\\w-]))';
const LIST = `${ID}(?:(?:, | and )${ID})*`;
const FIRST = new RegExp(`^(\\s*(?:\\/\\*\\*|\\*)? ?)${LIST}(?:: ([a-z])?|\\.? ?(?=\\*\\/|$))`, 'gm');
const BESIDE = new RegExp(`,? \\((?:order as in )?${LIST}\\)|[,;] (?:order as in )?${LIST}(?=\\))`, 'g');
const WHOLE = new RegExp(`(?<![\\w-])${ID}(?![\\w-])`);

/**
 * Takes the ids of requirements out of the comments of a declaration file: whoever uses the package has not the
 * documents that they are of.
 *
 * @param {string} text
 */
export function withoutIds(text) {
  return text
    .replace(/ *\/\*\*[\s\S]*?\*\//g, comment =>
      comment.replace(FIRST, (_, before, letter = '') => before + letter.toUpperCase()).replace(BESIDE, ''),
    )
    .replace(/^ *\/\*\*\s*\*\/\n/gm, '');
}

/**
 * The lines of a declaration file that name a requirement.
 *
 * @param {string} text
 */
export function linesWithId(text) {
  return text.split('\n').filter(line => WHOLE.test(line));
}
