/**
 * What a character is to CommonMark's flanking rules. Versions differ on symbols (0.31 counts them as punctuation,
 * 0.30 does not) and on characters outside the basic plane, so those are a class of their own.
 */
export const BLANK = 0;
export const PUNCTUATION = 1;
export const LETTER = 2;
export const AMBIGUOUS = 3;

const UNICODE_BLANK = /\s/;
const UNICODE_PUNCTUATION = /\p{P}/u;
const UNICODE_SYMBOL = /\p{S}/u;

/** The class of a UTF-16 code unit; `NaN`, the edge of a text, is a blank. */
export function characterClass(unit: number): number {
  if (unit < 0x80) {
    if (unit <= 0x20) return BLANK;
    const isLetter =
      (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x41 && unit <= 0x5a) || (unit >= 0x30 && unit <= 0x39);
    return isLetter || unit === 0x7f ? LETTER : PUNCTUATION;
  }
  if (Number.isNaN(unit)) return BLANK;
  if (unit >= 0xd800 && unit <= 0xdfff) return AMBIGUOUS;
  const character = String.fromCharCode(unit);
  if (UNICODE_BLANK.test(character)) return BLANK;
  if (UNICODE_PUNCTUATION.test(character)) return PUNCTUATION;
  // A variation selector belongs to the symbol before it.
  return UNICODE_SYMBOL.test(character) || unit === 0xfe0f ? AMBIGUOUS : LETTER;
}

/** Whether a delimiter between two such characters opens emphasis in every reading. */
export function surelyOpens(before: number, after: number): boolean {
  return after !== BLANK && (after === LETTER || before === BLANK || before === PUNCTUATION);
}

/** Whether it opens emphasis in some reading. */
export function mayOpen(before: number, after: number): boolean {
  return after !== BLANK && (after !== PUNCTUATION || before !== LETTER);
}
