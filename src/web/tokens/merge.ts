import {NO_RANK, type Vocabulary} from './vocabulary.ts';

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
