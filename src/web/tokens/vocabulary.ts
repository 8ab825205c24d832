// The cl100k_base vocabulary, and how its tokens merge.

import {createHash} from 'node:crypto';
import {readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {packageFile} from '../../core/package-file.ts';

/** Rank of byte strings that are no token. Greater than every rank. */
export const NO_RANK = 0x7fff_ffff;

const HEADER_BYTES = 48;
const MAGIC = 0x31_56_54_46; // "FTV1" read as a little-endian number
const REMEDY = 'Run "npm run build" in the package folder, or install the package again.';

/** No token of cl100k_base spells more bytes. */
const LONGEST = 128;
/** In place of the rank of a pair that was not looked up yet. */
const UNKNOWN = -1;

/** The cl100k_base rank table, as scripts/build-vocabulary.js packs it. */
export class Vocabulary {
  /** By `first << 8 | second`: the ranks of two bytes, with which every merge starts. Looked up when first asked for. */
  readonly #pairRanks = new Int32Array(1 << 16).fill(UNKNOWN);
  readonly #slots: Int32Array;
  readonly #starts: Int32Array;
  readonly #bytes: Uint8Array;

  constructor(slots: Int32Array, starts: Int32Array, bytes: Uint8Array) {
    this.#slots = slots;
    this.#starts = starts;
    this.#bytes = bytes;
  }

  /** The rank of the two bytes at `at`, or `NO_RANK`. */
  rankOfPair(bytes: Uint8Array, at: number): number {
    const pair = ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
    const known = this.#pairRanks[pair] as number;
    if (known !== UNKNOWN) return known;
    const rank = this.rankOf(bytes, at, at + 2);
    this.#pairRanks[pair] = rank;
    return rank;
  }

  /** The rank of `bytes[from, to)`, or `NO_RANK`. */
  rankOf(bytes: Uint8Array, from: number, to: number): number {
    const length = to - from;
    if (length > LONGEST) return NO_RANK;
    let hash = 0x811c9dc5 | 0;
    for (let at = from; at < to; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let slot = (hash ^ (hash >>> 15)) & mask; ; slot = (slot + 1) & mask) {
      const rank = (slots[slot] as number) - 1;
      if (rank < 0) return NO_RANK;
      if (this.#spells(rank, bytes, from, length)) return rank;
    }
  }

  #spells(rank: number, bytes: Uint8Array, from: number, length: number): boolean {
    const start = this.#starts[rank] as number;
    if ((this.#starts[rank + 1] as number) - start !== length) return false;
    const own = this.#bytes;
    for (let at = 0; at < length; at++) if (own[start + at] !== bytes[from + at]) return false;
    return true;
  }
}

let loaded: Vocabulary | undefined;

/** Read at the first count, not at import: a process that never counts never pays for it. */
export function vocabulary(): Vocabulary {
  loaded ??= readVocabulary(packageFile('vocabulary/cl100k_base.bin'));
  return loaded;
}

/** Throws if the file is missing or damaged: that is a broken installation, not a failed call. */
export function readVocabulary(url: URL): Vocabulary {
  const path = fileURLToPath(url);
  let file: Uint8Array;
  try {
    file = readFileSync(path);
    // The numbers in it are read where they are, and must begin at a whole one.
    if (file.byteOffset % 4 !== 0) file = Uint8Array.from(file);
  } catch (cause) {
    throw new Error(`Cannot read the token vocabulary ${path}. ${REMEDY}`, {cause});
  }
  const header = new Int32Array(file.buffer, file.byteOffset, file.length < HEADER_BYTES ? 0 : 4);
  const [magic, tokens = 0, slots = 0, bytes = 0] = header;
  const startsAt = HEADER_BYTES + 4 * slots;
  const bytesAt = startsAt + 4 * (tokens + 1);
  const digest = createHash('sha256').update(file.subarray(HEADER_BYTES)).digest();
  if (magic !== MAGIC || file.length !== bytesAt + bytes || !digest.equals(file.subarray(16, HEADER_BYTES))) {
    throw new Error(`The token vocabulary ${path} is damaged or of another version. ${REMEDY}`);
  }
  return new Vocabulary(
    new Int32Array(file.buffer, file.byteOffset + HEADER_BYTES, slots),
    new Int32Array(file.buffer, file.byteOffset + startsAt, tokens + 1),
    file.subarray(bytesAt),
  );
}

/** Up to this many bytes a scan for the lowest rank beats a heap. */
const SCAN_LIMIT = 96;

const scanStarts = new Int32Array(SCAN_LIMIT + 1);
const scanRanks = new Int32Array(SCAN_LIMIT + 1);

/**
 * How many tokens byte pair encoding makes of `bytes[0, length)`: the neighbours whose union has the
 * lowest rank are merged, leftmost first, until no union is a token.
 */
export function countMerged(bytes: Uint8Array, length: number, vocabulary: Vocabulary): number {
  if (length < 2) return length;
  return length <= SCAN_LIMIT
    ? mergeByScan(bytes, length, vocabulary)
    : mergeByHeap(bytes, length, vocabulary);
}

/** `starts[i]` is where part i starts, `ranks[i]` the rank of parts i and i + 1 together. */
function mergeByScan(bytes: Uint8Array, length: number, vocabulary: Vocabulary): number {
  const starts = scanStarts;
  const ranks = scanRanks;
  for (let i = 0; i < length; i++) {
    starts[i] = i;
    ranks[i] = i + 1 < length ? vocabulary.rankOfPair(bytes, i) : NO_RANK;
  }
  starts[length] = length;
  let parts = length;
  for (;;) {
    let lowest = NO_RANK;
    let left = 0;
    for (let i = 0; i + 1 < parts; i++) {
      if ((ranks[i] as number) < lowest) {
        lowest = ranks[i] as number;
        left = i;
      }
    }
    if (lowest === NO_RANK) return parts;
    parts--;
    for (let i = left + 1; i <= parts; i++) {
      starts[i] = starts[i + 1] as number;
      ranks[i] = ranks[i + 1] as number;
    }
    ranks[left] = rankOfTwo(left);
    if (left > 0) ranks[left - 1] = rankOfTwo(left - 1);
  }

  function rankOfTwo(part: number): number {
    return part + 1 < parts
      ? vocabulary.rankOf(bytes, starts[part] as number, starts[part + 2] as number)
      : NO_RANK;
  }
}

/** Ruling E1: O(n log n). The parts are a linked list, the possible merges a heap with stale entries. */
function mergeByHeap(bytes: Uint8Array, length: number, vocabulary: Vocabulary): number {
  // A part is named by its first byte; `next` of it is where it ends.
  const next = new Int32Array(length + 1);
  const previous = new Int32Array(length + 1);
  const ranks = new Int32Array(length + 1).fill(NO_RANK);
  // An entry is rank * SHIFT + part, so that the smallest is the lowest rank and there the leftmost.
  const heap = new Float64Array(2 * length);
  let size = 0;
  for (let at = 0; at < length; at++) {
    next[at] = at + 1;
    previous[at] = at - 1;
    if (at + 1 === length) break;
    const rank = vocabulary.rankOfPair(bytes, at);
    ranks[at] = rank;
    if (rank !== NO_RANK) heap[size++] = rank * SHIFT + at;
  }
  previous[length] = length - 1;
  for (let at = (size - 2) >> 2; at >= 0; at--) siftDown(heap, size, at);

  let parts = length;
  while (size > 0) {
    const entry = heap[0] as number;
    heap[0] = heap[--size] as number;
    siftDown(heap, size, 0);
    const rank = Math.floor(entry / SHIFT);
    const left = entry - rank * SHIFT;
    if (ranks[left] !== rank) continue;

    const right = next[left] as number;
    const after = next[right] as number;
    next[left] = after;
    previous[after] = left;
    ranks[right] = NO_RANK;
    parts--;
    size = offer(left, size);
    if (left > 0) size = offer(previous[left] as number, size);
  }
  return parts;

  function offer(part: number, count: number): number {
    const middle = next[part] as number;
    const rank = middle < length ? vocabulary.rankOf(bytes, part, next[middle] as number) : NO_RANK;
    ranks[part] = rank;
    if (rank === NO_RANK) return count;
    siftUp(heap, count, rank * SHIFT + part);
    return count + 1;
  }
}

const SHIFT = 2 ** 32;

/** The heap has four children a node: half the levels of a binary one, on neighbouring memory. */
function siftDown(heap: Float64Array, size: number, from: number): void {
  const entry = heap[from] as number;
  let at = from;
  for (;;) {
    const first = 4 * at + 1;
    if (first >= size) break;
    const end = Math.min(first + 4, size);
    let child = first;
    let smallest = heap[first] as number;
    for (let other = first + 1; other < end; other++) {
      const value = heap[other] as number;
      if (value < smallest) {
        smallest = value;
        child = other;
      }
    }
    if (smallest >= entry) break;
    heap[at] = smallest;
    at = child;
  }
  heap[at] = entry;
}

function siftUp(heap: Float64Array, from: number, entry: number): void {
  let at = from;
  while (at > 0) {
    const parent = (at - 1) >> 2;
    const value = heap[parent] as number;
    if (value <= entry) break;
    heap[at] = value;
    at = parent;
  }
  heap[at] = entry;
}
