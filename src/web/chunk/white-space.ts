/** Unicode's White_Space, of which every character is a single UTF-16 unit. U+FEFF is not in it. */
export function isWhiteSpace(unit: number): boolean {
  if (unit < 0x80) return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
  return (
    unit === 0x85 ||
    unit === 0xa0 ||
    unit === 0x1680 ||
    (unit >= 0x2000 && unit <= 0x200a) ||
    unit === 0x2028 ||
    unit === 0x2029 ||
    unit === 0x202f ||
    unit === 0x205f ||
    unit === 0x3000
  );
}

/** The first place in `[from, to)` that is no white space; `to` if there is none. */
export function contentStart(text: string, from: number, to: number): number {
  let at = from;
  while (at < to && isWhiteSpace(text.charCodeAt(at))) at++;
  return at;
}

/** The end of `[from, to)` without its trailing white space. */
export function contentEnd(text: string, from: number, to: number): number {
  let at = to;
  while (at > from && isWhiteSpace(text.charCodeAt(at - 1))) at--;
  return at;
}
