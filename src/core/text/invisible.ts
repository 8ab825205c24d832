// Finds characters that a reader cannot see, and shows or removes them.

/**
 * The one rule of what a reader cannot see: controls, format and bidirectional marks, fillers, variation
 * selectors, tag characters, lone surrogates, separators of lines and paragraphs, and what is not assigned, so
 * that no font has it. TAB and LF are text. The signs that stand before Arabic and Syriac numbers are
 * format characters with a glyph of their own.
 */
const INVISIBLE =
  /(?![\t\n\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}])[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** The text with `sign` of every character that a reader cannot see. */
export function replaceInvisible(text: string, sign: (character: string) => string): string {
  return text.replace(INVISIBLE, sign);
}

/**
 * For what the user decides on: a character that cannot be seen is shown by its number, as `\u{202e}`. It is
 * never left out, so that what was shown is what will be done.
 */
export function showInvisible(text: string): string {
  return replaceInvisible(text, character => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** What scripts and emoji need to be read (joiners, selectors of a glyph), and what a font of the reader may have. */
const SHAPES_TEXT =
  /^(?:\u200c|\u200d|[\ufe00-\ufe0f]|(?!\p{Default_Ignorable_Code_Point})(?:\p{Co}|\p{Cn}))/u;

/** For what the user only reads: the text without the characters that would act, hide or turn something around. */
export function stripInvisible(text: string): string {
  return replaceInvisible(text, character => (SHAPES_TEXT.test(character) ? character : ''));
}
