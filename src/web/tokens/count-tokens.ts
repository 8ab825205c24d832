// Counts cl100k_base tokens.

import {pieceEnd} from './pretokenize.ts';
import {countMerged, NO_RANK, type Vocabulary, vocabulary} from './vocabulary.ts';

/** Texts up to this many units share one buffer. */
const SHARED_UNITS = 1 << 14;

interface Counter {
  readonly vocabulary: Vocabulary;
  readonly cache: PieceCache;
  readonly units: Uint16Array;
  /** The memory of `units`, as what a text is written to. */
  readonly memory: Buffer;
  readonly bytes: Uint8Array;
}

let counter: Counter | undefined;

/**
 * The number of cl100k_base tokens in `text` (FR-WF-14, ruling E1). Special tokens are ordinary text;
 * a lone surrogate counts as U+FFFD, as which it would be sent. Time is O(n log n) at worst.
 *
 * The count adds up where a line ends before one that is not blank, and before a blank that follows
 * anything but white space: no token reaches across these places.
 */
export function countTokens(text: string): number {
  counter ??= makeCounter();
  const {length} = text;
  const units = length <= SHARED_UNITS ? counter.units : new Uint16Array(length);
  copyUnits(text, units, counter);
  let count = 0;
  for (let start = 0; start < length; ) {
    // Most pieces are words of ASCII, perhaps with one character before them: hashed while their end is looked for.
    let at = start;
    let hash = 0;
    let unit = units[at] as number;
    if (mayPrecedeWord(unit)) {
      hash = PieceCache.hash(hash, unit);
      at++;
    }
    const word = at;
    while (at < length) {
      unit = units[at] as number;
      if (!isAsciiLetter(unit)) break;
      hash = PieceCache.hash(hash, unit);
      at++;
    }
    if (at > word && (at === length || unit < 0x80)) {
      count += countPiece(counter, units, start, at, hash);
    } else {
      at = pieceEnd(units, start, length);
      count += countPiece(counter, units, start, at, PieceCache.hashOf(units, start, at));
    }
    start = at;
  }
  return count;
}

function makeCounter(): Counter {
  const units = new Uint16Array(SHARED_UNITS);
  return {
    vocabulary: vocabulary(),
    cache: new PieceCache(),
    units,
    memory: Buffer.from(units.buffer),
    bytes: new Uint8Array(3 * PieceCache.LONGEST),
  };
}

/** ASCII that is neither letter, digit nor line end; an apostrophe may begin a contraction. */
function mayPrecedeWord(unit: number): boolean {
  if (unit === 0x20) return true;
  const isDigit = unit >= 0x30 && unit <= 0x39;
  return unit < 0x80 && !isAsciiLetter(unit) && !isDigit && unit !== 0x0a && unit !== 0x0d && unit !== 0x27;
}

function isAsciiLetter(unit: number): boolean {
  const lower = unit | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}

function copyUnits(text: string, units: Uint16Array, {units: shared, memory}: Counter): void {
  if (text.length <= 48) for (let at = 0; at < text.length; at++) units[at] = text.charCodeAt(at);
  else (units === shared ? memory : Buffer.from(units.buffer)).write(text, 'utf16le');
}

/** `hash` is that of the piece. */
function countPiece(counter: Counter, units: Uint16Array, start: number, end: number, hash: number): number {
  if (end - start === 1 && (units[start] as number) < 0x80) return 1;
  if (end - start > PieceCache.LONGEST) {
    return countBytes(counter.vocabulary, units, start, end, new Uint8Array(3 * (end - start)));
  }
  const slot = counter.cache.slotOf(units, start, end, hash);
  const known = counter.cache.countIn(slot);
  if (known > 0) return known;
  const count = countBytes(counter.vocabulary, units, start, end, counter.bytes);
  counter.cache.add(slot, units, start, end, count);
  return count;
}

function countBytes(
  words: Vocabulary,
  units: Uint16Array,
  start: number,
  end: number,
  bytes: Uint8Array,
): number {
  const length = writeUtf8(units, start, end, bytes);
  return words.rankOf(bytes, 0, length) === NO_RANK ? countMerged(bytes, length, words) : 1;
}

/** Returns how many bytes were written. */
function writeUtf8(units: Uint16Array, start: number, end: number, bytes: Uint8Array): number {
  let size = 0;
  for (let at = start; at < end; at++) {
    let code = units[at] as number;
    if (code < 0x80) {
      bytes[size++] = code;
      continue;
    }
    if (code < 0x800) {
      bytes[size++] = 0xc0 | (code >> 6);
      bytes[size++] = 0x80 | (code & 0x3f);
      continue;
    }
    if ((code & 0xf800) === 0xd800) {
      const low = at + 1 < end ? (units[at + 1] as number) : 0;
      if (code < 0xdc00 && (low & 0xfc00) === 0xdc00) {
        at++;
        const point = 0x1_0000 + ((code & 0x3ff) << 10) + (low & 0x3ff);
        bytes[size++] = 0xf0 | (point >> 18);
        bytes[size++] = 0x80 | ((point >> 12) & 0x3f);
        bytes[size++] = 0x80 | ((point >> 6) & 0x3f);
        bytes[size++] = 0x80 | (point & 0x3f);
        continue;
      }
      code = 0xfffd;
    }
    bytes[size++] = 0xe0 | (code >> 12);
    bytes[size++] = 0x80 | ((code >> 6) & 0x3f);
    bytes[size++] = 0x80 | (code & 0x3f);
  }
  return size;
}

const SLOTS = 1 << 15;
/** Three in four slots: beyond that, linear probing gets slow. */
const MOST_PIECES = (SLOTS * 3) / 4;
const POOL_UNITS = 1 << 18;

/**
 * Token counts of pieces seen before, by their UTF-16 units. It holds copies, so that no text is kept
 * alive by it, in fixed memory (about 900 KB); when full it starts afresh.
 */
export class PieceCache {
  /** Pieces with more units are not worth their place. */
  static readonly LONGEST = 64;
  /** Where the piece of a slot starts in the pool, plus one; 0 is an empty slot. */
  readonly #starts = new Int32Array(SLOTS);
  readonly #lengths = new Uint8Array(SLOTS);
  readonly #counts = new Uint8Array(SLOTS);
  readonly #pool = new Uint16Array(POOL_UNITS);
  #used = 0;
  #pieces = 0;

  /** The hash of a piece that is one unit longer; that of no unit is 0. */
  static hash(hash: number, unit: number): number {
    return Math.imul(hash ^ unit, 0x5bd1e995);
  }

  static hashOf(units: Uint16Array, from: number, to: number): number {
    let hash = 0;
    // A piece that is not kept needs no more than the beginning of its hash.
    const end = Math.min(to, from + PieceCache.LONGEST);
    for (let at = from; at < end; at++) hash = PieceCache.hash(hash, units[at] as number);
    return hash;
  }

  /** The slot of the piece `units[from, to)` with its hash: its own, or the empty one where `add` will put it. */
  slotOf(units: Uint16Array, from: number, to: number, hash: number): number {
    let slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
    while (this.#starts[slot] !== 0 && !this.#holds(slot, units, from, to)) slot = (slot + 1) & (SLOTS - 1);
    return slot;
  }

  /** The count in a slot; 0 if it is empty. */
  countIn(slot: number): number {
    return this.#counts[slot] as number;
  }

  add(slot: number, units: Uint16Array, from: number, to: number, count: number): void {
    if (this.#pieces === MOST_PIECES || this.#used + (to - from) > POOL_UNITS) {
      this.#clear();
      return;
    }
    this.#starts[slot] = this.#used + 1;
    this.#lengths[slot] = to - from;
    this.#counts[slot] = count;
    for (let at = from; at < to; at++) this.#pool[this.#used++] = units[at] as number;
    this.#pieces++;
  }

  #holds(slot: number, units: Uint16Array, from: number, to: number): boolean {
    if (this.#lengths[slot] !== to - from) return false;
    const start = (this.#starts[slot] as number) - 1;
    const pool = this.#pool;
    for (let at = 0; from + at < to; at++) if (pool[start + at] !== units[from + at]) return false;
    return true;
  }

  #clear(): void {
    this.#starts.fill(0);
    this.#counts.fill(0);
    this.#used = 0;
    this.#pieces = 0;
  }
}
