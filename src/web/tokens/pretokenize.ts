// Cuts text into the pieces that are counted each by itself.

import {LETTER_RANGES, NUMBER_RANGES} from './unicode-ranges.data.ts';

const APOSTROPHE = 0x27;
const BLANK = 0x20;

/**
 * Where the piece that starts at `start` ends. Tokens never reach across pieces; they are the
 * matches of the cl100k_base pattern, whose alternatives are, in order:
 *
 *     (?i:'s|'t|'re|'ve|'m|'ll|'d)
 *     [^\r\n\p{L}\p{N}]?\p{L}+
 *     \p{N}{1,3}
 *     ` ?[^\s\p{L}\p{N}]+[\r\n]*`
 *     \s*[\r\n]+
 *     \s+(?!\S)
 *     \s+
 *
 * The pattern never looks behind, so a piece depends on nothing before its start.
 */
export function pieceEnd(units: Uint16Array, start: number, end: number): number {
  const classes = characterClasses();
  const first = units[start] as number;
  if (first === APOSTROPHE) {
    const contraction = contractionEnd(units, start, end);
    if (contraction > 0) return contraction;
  }
  const point = codePointAt(units, start, end);
  const kind = classes[point] as number;
  const second = start + (point > 0xffff ? 2 : 1);
  if (kind === LETTER) return runEnd(units, second, end, LETTER);
  if (kind === NUMBER) return numberEnd(units, second, end);

  const next = second < end ? (classes[codePointAt(units, second, end)] as number) : NEWLINE;
  if (next === LETTER && kind !== NEWLINE) return runEnd(units, second, end, LETTER);
  if (kind === OTHER || (first === BLANK && next === OTHER)) {
    return newlinesEnd(units, runEnd(units, second, end, OTHER), end);
  }
  return whiteSpaceEnd(units, start, end);
}

function codePointAt(units: Uint16Array, at: number, end: number): number {
  const unit = units[at] as number;
  if ((unit & 0xfc00) !== 0xd800 || at + 1 >= end) return unit;
  const low = units[at + 1] as number;
  return (low & 0xfc00) === 0xdc00 ? 0x1_0000 + ((unit & 0x3ff) << 10) + (low & 0x3ff) : unit;
}

/** The end of the run of one class from `from` on. */
function runEnd(units: Uint16Array, from: number, end: number, kind: number): number {
  const classes = characterClasses();
  let at = from;
  while (at < end) {
    const unit = units[at] as number;
    if ((unit & 0xfc00) === 0xd800) {
      const point = codePointAt(units, at, end);
      if (classes[point] !== kind) break;
      at += point > 0xffff ? 2 : 1;
    } else {
      if (classes[unit] !== kind) break;
      at++;
    }
  }
  return at;
}

/** Three digits make a piece; `from` is where the second may be. */
function numberEnd(units: Uint16Array, from: number, end: number): number {
  const classes = characterClasses();
  let at = from;
  for (let digits = 1; digits < 3 && at < end; digits++) {
    const point = codePointAt(units, at, end);
    if (classes[point] !== NUMBER) break;
    at += point > 0xffff ? 2 : 1;
  }
  return at;
}

function newlinesEnd(units: Uint16Array, from: number, end: number): number {
  let at = from;
  while (at < end && (units[at] === 0x0a || units[at] === 0x0d)) at++;
  return at;
}

/** Up to the last newline of the white space; without one, up to its last character or the end of the text. */
function whiteSpaceEnd(units: Uint16Array, start: number, end: number): number {
  const classes = characterClasses();
  let newline = 0;
  let at = start;
  for (; at < end; at++) {
    const kind = classes[units[at] as number];
    if (kind === NEWLINE) newline = at + 1;
    else if (kind !== SPACE) break;
  }
  if (newline > 0) return newline;
  return at === end || at === start + 1 ? at : at - 1;
}

/** 0 if there is none. Upper case is folded as Unicode does: U+017F (ſ) is an s. */
function contractionEnd(units: Uint16Array, start: number, end: number): number {
  const letter = folded(units, start + 1, end);
  if (letter === 's' || letter === 't' || letter === 'm' || letter === 'd') return start + 2;
  const pair = letter + folded(units, start + 2, end);
  return pair === 're' || pair === 've' || pair === 'll' ? start + 3 : 0;
}

function folded(units: Uint16Array, at: number, end: number): string {
  if (at >= end) return '';
  const unit = units[at] as number;
  if (unit === 0x17f) return 's';
  return unit < 0x80 ? String.fromCharCode(unit).toLowerCase() : '';
}

/** The classes that the cl100k_base pattern tells apart. */
const OTHER = 0;
const LETTER = 1;
const NUMBER = 2;
/** White space but for CR and LF. */
const SPACE = 3;
/** CR and LF. */
const NEWLINE = 4;

// Unicode's White_Space, without CR and LF. It has U+0085 and lacks U+FEFF; with JavaScript's \s it is the other way round.
const SPACES = [
  0x09, 0x0b, 0x0c, 0x20, 0x85, 0xa0, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007,
  0x2008, 0x2009, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000,
];

let classes: Uint8Array | undefined;

/** The class of every code point, made at the first call. Surrogates are `OTHER`, as is U+FFFD, which lone ones become. */
function characterClasses(): Uint8Array {
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
