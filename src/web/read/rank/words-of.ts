export interface Word {
  readonly text: string;
  readonly start: number;
}

/** Scripts that put no blanks between words: there, every character is one. */
const UNSPACED =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}';
const LETTERS = '[\\p{L}\\p{N}\\p{M}]';
// Made of a string: the target of the build knows no set subtraction, every Node that we run on does.
const WORD = new RegExp(`[a-zA-Z0-9]+(?!${LETTERS})|[${UNSPACED}]|[${LETTERS}--[${UNSPACED}]]+`, 'gv');

/** The words of a text, lower case. */
export function* wordsOf(text: string): Generator<Word> {
  for (const match of text.matchAll(WORD)) yield {text: match[0].toLowerCase(), start: match.index};
}

/** Whether a word may begin or end beside this character without a blank. */
export function isUnspaced(character: string): boolean {
  return UNSPACED_CHARACTER.test(character);
}

const UNSPACED_CHARACTER = new RegExp(`[${UNSPACED}]`, 'v');
