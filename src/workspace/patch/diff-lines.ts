// Compares two lists of lines, with a bound on the work.
import type {ByteString} from './patch.ts';

/** Levels of anchors within anchors. Below it the shortest edit, or a replacement, is good enough. */
const MAX_DEPTH = 24;

/**
 * What differs between two lists of lines, in order. Patience diff: lines that occur once on both sides
 * hold the parts together, Myers' shortest edit fills the gaps, and a gap that would cost too much is
 * replaced whole. Always exact, and n log n in the worst case.
 */
export function diffLines(oldLines: readonly ByteString[], newLines: readonly ByteString[]): LineEdit[] {
  const numbers = new Map<ByteString, number>();
  const number = (line: ByteString): number => {
    const known = numbers.get(line);
    if (known !== undefined) return known;
    numbers.set(line, numbers.size);
    return numbers.size - 1;
  };
  const before = Int32Array.from(oldLines, number);
  const after = Int32Array.from(newLines, number);

  const edits: LineEdit[] = [];
  const pending: {span: Span; depth: number}[] = [
    {span: {oldFrom: 0, oldTo: before.length, newFrom: 0, newTo: after.length}, depth: 0},
  ];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const span = trim(before, after, next.span);
    if (span.oldFrom === span.oldTo || span.newFrom === span.newTo) {
      if (span.oldFrom !== span.oldTo || span.newFrom !== span.newTo) edits.push(replacement(span));
      continue;
    }
    const anchors = next.depth < MAX_DEPTH ? uniqueAnchors(before, after, span) : [];
    if (anchors.length === 0) {
      edits.push(...(shortestEdit(before, after, span) ?? [replacement(span)]));
      continue;
    }
    // Pushed from the last to the first, so that they are taken from the first to the last.
    let {oldTo, newTo} = span;
    for (const [oldAt, newAt] of anchors.toReversed()) {
      pending.push({span: {oldFrom: oldAt + 1, oldTo, newFrom: newAt + 1, newTo}, depth: next.depth + 1});
      oldTo = oldAt;
      newTo = newAt;
    }
    pending.push({span: {oldFrom: span.oldFrom, oldTo, newFrom: span.newFrom, newTo}, depth: next.depth + 1});
  }
  return edits;
}

function trim(before: Int32Array, after: Int32Array, span: Span): Span {
  let {oldFrom, oldTo, newFrom, newTo} = span;
  while (oldFrom < oldTo && newFrom < newTo && before[oldFrom] === after[newFrom]) {
    oldFrom += 1;
    newFrom += 1;
  }
  while (oldFrom < oldTo && newFrom < newTo && before[oldTo - 1] === after[newTo - 1]) {
    oldTo -= 1;
    newTo -= 1;
  }
  return {oldFrom, oldTo, newFrom, newTo};
}

function replacement({oldFrom, oldTo, newFrom, newTo}: Span): LineEdit {
  return {oldStart: oldFrom, oldCount: oldTo - oldFrom, newStart: newFrom, newCount: newTo - newFrom};
}

/** `oldCount` lines from `oldStart` on become the `newCount` lines from `newStart` on. Indices from 0. */
export interface LineEdit {
  readonly oldStart: number;
  readonly oldCount: number;
  readonly newStart: number;
  readonly newCount: number;
}

/** A part of both files: lines `oldFrom` to `oldTo` and `newFrom` to `newTo`, the ends excluded. */
interface Span {
  readonly oldFrom: number;
  readonly oldTo: number;
  readonly newFrom: number;
  readonly newTo: number;
}

/** Steps of the search for one span; lines times edits stays below it. */
const MAX_STEPS = 4_000_000;
const MAX_EDITS = 256;

/**
 * Myers' greedy search for the shortest list of edits; undefined where it has more than a bounded
 * number of them. Memory is quadratic in that bound, not in the lines.
 */
export function shortestEdit(before: Int32Array, after: Int32Array, span: Span): LineEdit[] | undefined {
  const {oldFrom, newFrom} = span;
  const oldCount = span.oldTo - oldFrom;
  const newCount = span.newTo - newFrom;
  const lines = oldCount + newCount;
  const limit = Math.min(lines, MAX_EDITS, Math.max(16, Math.floor(MAX_STEPS / lines)));
  const middle = limit + 1;
  const reach = new Int32Array(2 * limit + 3);
  const trace: Int32Array[] = [];
  for (let edits = 0; edits <= limit; edits += 1) {
    trace.push(reach.slice(middle - edits - 1, middle + edits + 2));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const down = reach[middle + diagonal + 1] ?? 0;
      const right = reach[middle + diagonal - 1] ?? 0;
      let x = diagonal === -edits || (diagonal !== edits && right < down) ? down : right + 1;
      let y = x - diagonal;
      while (x < oldCount && y < newCount && before[oldFrom + x] === after[newFrom + y]) {
        x += 1;
        y += 1;
      }
      reach[middle + diagonal] = x;
      if (x >= oldCount && y >= newCount) return walkBack(trace, span);
    }
  }
  return undefined;
}

/** Follows the trace from the end to the start and joins neighbouring edits. */
function walkBack(trace: readonly Int32Array[], span: Span): LineEdit[] {
  const edits: LineEdit[] = [];
  let x = span.oldTo - span.oldFrom;
  let y = span.newTo - span.newFrom;
  // The edit being joined, as its end; it begins where the walk is.
  let end: {x: number; y: number} | undefined;
  const close = (): void => {
    if (end === undefined) return;
    edits.push({
      oldStart: span.oldFrom + x,
      oldCount: end.x - x,
      newStart: span.newFrom + y,
      newCount: end.y - y,
    });
    end = undefined;
  };
  for (let count = trace.length - 1; count > 0; count -= 1) {
    const reach = trace[count];
    const at = (diagonal: number): number => reach?.[diagonal + count + 1] ?? 0;
    const diagonal = x - y;
    const down = diagonal === -count || (diagonal !== count && at(diagonal - 1) < at(diagonal + 1));
    const previousX = down ? at(diagonal + 1) : at(diagonal - 1);
    const previousY = previousX - (down ? diagonal + 1 : diagonal - 1);
    const editX = down ? previousX : previousX + 1;
    const editY = down ? previousY + 1 : previousY;
    if (x > editX) {
      close();
      x = editX;
      y = editY;
    }
    end ??= {x: editX, y: editY};
    x = previousX;
    y = previousY;
  }
  close();
  return edits.reverse();
}

/**
 * Lines that occur exactly once on both sides of the span, as pairs of indices: the longest list of
 * them that ascends on both sides.
 */
export function uniqueAnchors(before: Int32Array, after: Int32Array, span: Span): [number, number][] {
  const oldAt = uniquePositions(before, span.oldFrom, span.oldTo);
  const newAt = uniquePositions(after, span.newFrom, span.newTo);
  const pairs: [number, number][] = [];
  for (const [line, position] of oldAt) {
    const counterpart = newAt.get(line);
    if (position >= 0 && counterpart !== undefined && counterpart >= 0) pairs.push([position, counterpart]);
  }
  return longestAscending(pairs);
}

/** Line → where it stands; -1 where it stands more than once. In the order of first occurrence. */
function uniquePositions(lines: Int32Array, from: number, to: number): Map<number, number> {
  const positions = new Map<number, number>();
  for (let at = from; at < to; at += 1) {
    const line = lines[at] ?? 0;
    positions.set(line, positions.has(line) ? -1 : at);
  }
  return positions;
}

/** Patience sorting; the pairs ascend in their first member already. */
function longestAscending(pairs: readonly [number, number][]): [number, number][] {
  const tops: number[] = [];
  const previous = new Int32Array(pairs.length).fill(-1);
  for (const [index, [, value]] of pairs.entries()) {
    let low = 0;
    let high = tops.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[tops[middle] ?? 0]?.[1] ?? 0) < value) low = middle + 1;
      else high = middle;
    }
    if (low > 0) previous[index] = tops[low - 1] ?? -1;
    tops[low] = index;
  }
  const chain: [number, number][] = [];
  for (let index = tops.at(-1) ?? -1; index >= 0; index = previous[index] ?? -1) {
    const pair = pairs[index];
    if (pair !== undefined) chain.push(pair);
  }
  return chain.reverse();
}
