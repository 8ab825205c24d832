const MAY_START_BLOCK = /^[#>+\-*_=~|:`\d]/;
/** Headings, quotes, bullets, rules and underlines, fences. `$` is the end of the line, or of the text before markup. */
const STARTS_BLOCK =
  /^(?:#{1,6}(?=[ \t]|$)|>|[-+*](?=[ \t]|$)|-[- \t]*$|\*[* \t]*$|_[_ \t]*$|=+[ \t]*$|~{3}|`{3})/;
const TABLE_DELIMITERS = /^[|:][-|: \t]*$/;
const ORDERED_MARKER = /^\d{1,9}(?=[.)](?:[ \t]|$))/;

/**
 * D7: keeps a line of text from starting a block. `raw` is the line as in the page, `escaped` the same line after
 * the escaping of inline markup.
 */
export function escapeLineStart(raw: string, escaped: string): string {
  const lower = raw.charCodeAt(0) | 0x20;
  // Most lines begin with a letter.
  if ((lower >= 0x61 && lower <= 0x7a) || !MAY_START_BLOCK.test(raw)) return escaped;
  const number = ORDERED_MARKER.exec(raw)?.[0];
  if (number !== undefined) return `${number}\\${escaped.slice(number.length)}`;
  const startsBlock = STARTS_BLOCK.test(raw) || (TABLE_DELIMITERS.test(raw) && raw.includes('-'));
  if (!startsBlock || escaped.startsWith('\\')) return escaped;
  // A delimiter run goes as a whole: what is left of it could be emphasis.
  return escaped.replace(/^(?:[*_~`]+|.)/, run => `\\${[...run].join('\\')}`);
}
