/**
 * RFC 9110 §5.6.3: blanks are space and TAB. `trim` would take NBSP too, and make a word of what other
 * parsers read as another one. By hand: a regular expression anchored at the end is quadratic in runs.
 */
export function trimBlanks(value: string): string {
  let start = 0;
  let end = value.length;
  while (start < end && isBlank(value.charCodeAt(start))) start += 1;
  while (end > start && isBlank(value.charCodeAt(end - 1))) end -= 1;
  return value.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}
