import type {Span} from './line-edit.ts';

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
