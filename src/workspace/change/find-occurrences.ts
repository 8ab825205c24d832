// Finds exact text in linear time, and handles CRLF.
import {BYTES_A_TURN, type Turns} from '../open-file.ts';

interface Occurrences {
  /** All of them, overlapping ones too (W6). */
  readonly count: number;
  /** Where the first ones begin, as indices into the text. */
  readonly first: readonly number[];
}

/** What `indexOf` spends at worst grows with the length of what it looks for; for these it is little. */
const SHORT = 4096;

/**
 * Finds every place where `wanted` begins (Knuth, Morris, Pratt): linear in both lengths, where
 * `indexOf` in a loop is quadratic on text such as a run of one letter.
 */
export function* findOccurrences(text: string, wanted: string, keep = 20): Turns<Occurrences> {
  const first: number[] = [];
  let count = 0;
  if (wanted.length === 0 || wanted.length > text.length) return {count, first};
  if (wanted.length <= SHORT) {
    // The usual case, at the speed of the engine: it occurs once, or not at all.
    const only = yield* findNext(text, wanted, 0);
    if (only === -1) return {count, first};
    if ((yield* findNext(text, wanted, only + 1)) === -1) return {count: 1, first: [only]};
  }
  const borders = yield* bordersOf(wanted);
  let matched = 0;
  for (let from = 0; from < text.length; from += BYTES_A_TURN) {
    if (from > 0) yield;
    const end = Math.min(text.length, from + BYTES_A_TURN);
    for (let at = from; at < end; at += 1) {
      const unit = text.charCodeAt(at);
      while (matched > 0 && unit !== wanted.charCodeAt(matched)) matched = borders[matched - 1] ?? 0;
      if (unit === wanted.charCodeAt(matched)) matched += 1;
      if (matched < wanted.length) continue;
      count += 1;
      if (first.length < keep) first.push(at - wanted.length + 1);
      matched = borders[matched - 1] ?? 0;
    }
  }
  return {count, first};
}

/** Where `wanted` begins from `start` on, as `indexOf` says it; -1 where it does not. */
export function* findNext(text: string, wanted: string, start: number): Turns<number> {
  for (let from = start; from + wanted.length <= text.length; from += BYTES_A_TURN) {
    if (from > start) yield;
    const found = text.slice(from, from + BYTES_A_TURN + wanted.length - 1).indexOf(wanted);
    if (found !== -1) return from + found;
  }
  return -1;
}

/** For each prefix, the length of the longest proper prefix of it that also ends it. */
function* bordersOf(wanted: string): Turns<Uint32Array> {
  const borders = new Uint32Array(wanted.length);
  let matched = 0;
  for (let at = 1; at < wanted.length; at += 1) {
    if (at % BYTES_A_TURN === 0) yield;
    const unit = wanted.charCodeAt(at);
    while (matched > 0 && unit !== wanted.charCodeAt(matched)) matched = borders[matched - 1] ?? 0;
    if (unit === wanted.charCodeAt(matched)) matched += 1;
    borders[at] = matched;
  }
  return borders;
}

const LF = 0x0a;
const CR = 0x0d;

/** W6: whether every line that ends ends in CRLF, and one does. Models write LF for such a file all the same. */
export function* isCrlf(content: Uint8Array): Turns<boolean> {
  let found = false;
  let before = 0;
  // One pass over the bytes: a call for each line would cost much where lines are short.
  for (let from = 0; from < content.length; from += BYTES_A_TURN) {
    if (from > 0) yield;
    const end = Math.min(content.length, from + BYTES_A_TURN);
    for (let at = from; at < end; at += 1) {
      const byte = content[at] ?? 0;
      if (byte === LF) {
        if (before !== CR) return false;
        found = true;
      }
      before = byte;
    }
  }
  return found;
}

/** W6, W13: a text without CR, with the line ends of a file that has CRLF throughout. */
export function* withCrlf(text: string): Turns<string> {
  const parts: string[] = [];
  for (let at = 0; at < text.length; at += BYTES_A_TURN) {
    if (at > 0) yield;
    parts.push(text.slice(at, at + BYTES_A_TURN).replaceAll('\n', '\r\n'));
  }
  return parts.join('');
}
