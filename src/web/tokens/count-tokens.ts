import {countMerged} from './merge.ts';
import {PieceCache} from './piece-cache.ts';
import {pieceEnd} from './pretokenize.ts';
import {NO_RANK, type Vocabulary, vocabulary} from './vocabulary.ts';

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
