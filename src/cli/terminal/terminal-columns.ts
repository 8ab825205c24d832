import {eastAsianWidth} from 'get-east-asian-width';

/** Marks that stand above, below or around another character and take no column of their own. */
const MARK = /^[\p{Mn}\p{Me}]$/u;

/**
 * The most columns that a terminal gives to a text without invisible characters. What is wide in some
 * terminals only ("ambiguous" of UAX #11) counts as wide: a line that is broken too early harms nobody.
 */
export function terminalColumns(text: string): number {
  let columns = 0;
  for (const character of text) {
    if (MARK.test(character)) continue;
    columns += eastAsianWidth(character.codePointAt(0) ?? 0, {ambiguousAsWide: true});
  }
  return columns;
}
