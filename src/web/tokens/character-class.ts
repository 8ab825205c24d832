import {LETTER_RANGES, NUMBER_RANGES} from './unicode-ranges.data.ts';

/** The classes that the cl100k_base pattern tells apart. */
export const OTHER = 0;
export const LETTER = 1;
export const NUMBER = 2;
/** White space but for CR and LF. */
export const SPACE = 3;
/** CR and LF. */
export const NEWLINE = 4;

// Unicode's White_Space, without CR and LF. It has U+0085 and lacks U+FEFF; with JavaScript's \s it is the other way round.
const SPACES = [
  0x09, 0x0b, 0x0c, 0x20, 0x85, 0xa0, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007,
  0x2008, 0x2009, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000,
];

let classes: Uint8Array | undefined;

/** The class of every code point, made at the first call. Surrogates are `OTHER`, as is U+FFFD, which lone ones become. */
export function characterClasses(): Uint8Array {
  if (classes) return classes;
  classes = new Uint8Array(0x11_0000);
  fillRanges(classes, LETTER_RANGES, LETTER);
  fillRanges(classes, NUMBER_RANGES, NUMBER);
  for (const space of SPACES) classes[space] = SPACE;
  classes[0x0a] = NEWLINE;
  classes[0x0d] = NEWLINE;
  return classes;
}

function fillRanges(table: Uint8Array, ranges: string, kind: number): void {
  let at = 0;
  let inside = false;
  for (const length of ranges.trim().split(/\s/)) {
    const end = at + Number.parseInt(length, 36);
    if (inside) table.fill(kind, at, end);
    at = end;
    inside = !inside;
  }
}
