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
