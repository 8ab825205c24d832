import {describe, expect, test} from 'vitest';
import {LONGEST_TOKEN} from './limit.ts';
import {planChunks} from './plan-chunks.ts';
import {countedUnits, TokenCounter} from './token-counter.ts';

/** Counts words, and notes each text that was counted. */
function counting(maxTokens: number) {
  const counted: string[] = [];
  const countTokens = (text: string): number => {
    counted.push(text);
    return text.split(/\s+/).filter(word => word !== '').length;
  };
  return {limit: {maxTokens, countTokens}, counted};
}

/** Start, length and tokens of each stretch. */
function stretchesOf(counts: ArrayLike<number>): number[][] {
  const stretches: number[][] = [];
  let start = 0;
  for (let at = 0; at < counts.length; at += 4) {
    start += counts[at] as number;
    stretches.push([start, counts[at + 1] as number, counts[at + 2] as number]);
  }
  return stretches;
}

const LONG = 'sixteen letters and more';

describe('FR-WF-CCH-CONTENT-01 the counts of a document', () => {
  test('FR-WF-CCH-CONTENT-01 name each stretch once, by its start, and the longer one first', () => {
    const {limit} = counting(100);
    const counter = new TokenCounter(limit, undefined);
    for (const start of [70, 0, 70, 40]) counter.count(start, LONG);
    counter.count(70, `${LONG} ${LONG}`);
    expect(stretchesOf(counter.counts)).toEqual([
      [0, 24, 4],
      [40, 24, 4],
      [70, 49, 8],
      [70, 24, 4],
    ]);
  });

  test('FR-WF-CCH-CONTENT-01 name each part of a block that is too large once', () => {
    const {limit} = counting(8);
    const list = '- an item. Of two sentences and more\n'.repeat(20);
    const stretches = stretchesOf(planChunks(list, limit).counts);
    expect(new Set(stretches.map(([start, length]) => `${start} ${length}`)).size).toBe(stretches.length);
    expect(stretches.map(([start]) => start)).toEqual(
      stretches.map(([start]) => start).toSorted((a = 0, b = 0) => a - b),
    );
    expect(stretches.every(([, length]) => length !== 0)).toBe(true);
  });

  test('FR-WF-CCH-CONTENT-01 are kept beyond the first sixty-four stretches', () => {
    const {limit} = counting(100);
    const counter = new TokenCounter(limit, undefined);
    const starts = Array.from({length: 200}, (_, index) => 30 * index);
    for (const start of starts) counter.count(start, LONG);
    expect(stretchesOf(counter.counts)).toEqual(starts.map(start => [start, 24, 4]));
    const again = counting(100);
    const known = new TokenCounter(again.limit, counter.counts);
    for (const start of starts) expect(known.count(start, LONG).tokens).toBe(4);
    expect(again.counted).toEqual([]);
  });

  test('FR-WF-CCH-CONTENT-01 keep blocks of three units and parts of blocks of sixteen', () => {
    const {limit} = counting(100);
    const counter = new TokenCounter(limit, undefined);
    for (const text of ['ab', 'abc']) counter.countBlock({kind: 'text', text, start: text.length});
    for (const text of ['a'.repeat(15), 'a'.repeat(16)]) counter.count(text.length, text);
    expect(stretchesOf(counter.counts)).toEqual([
      [3, 3, 1],
      [16, 16, 1],
    ]);
  });

  test('FR-WF-CCH-CONTENT-01 are not used for a stretch of another length, nor for one between two of them', () => {
    const {limit, counted} = counting(100);
    const counter = new TokenCounter(limit, Int32Array.of(10, 20, 99, 0, 30, 20, 99, 0));
    expect(counter.count(10, LONG.slice(0, 20)).tokens).toBe(99);
    expect(counter.count(40, LONG.slice(0, 20)).tokens).toBe(99);
    for (const [start, length] of [
      [10, 19],
      [10, 21],
      [9, 20],
      [11, 20],
      [39, 20],
      [41, 20],
      [30, 20],
    ] as const) {
      expect(counter.count(start, LONG.slice(0, length)).tokens).toBeLessThan(99);
    }
    expect(counted).toHaveLength(7);
  });
});

describe('FR-WF-15a a stretch that is too large for one limit', () => {
  const text = 'a'.repeat(2 * LONGEST_TOKEN + 1);

  test('FR-WF-15a is known to be too large without its number, and counted where a larger limit asks', () => {
    const few = counting(2);
    const counter = new TokenCounter(few.limit, undefined);
    expect(counter.count(0, text).tokens).toBe(Number.POSITIVE_INFINITY);
    const again = new TokenCounter(few.limit, counter.counts);
    expect(again.count(0, text).tokens).toBe(Number.POSITIVE_INFINITY);
    expect(few.counted).toEqual([]);
    for (const maxTokens of [3, 4]) {
      const more = counting(maxTokens);
      expect(new TokenCounter(more.limit, counter.counts).count(0, text).tokens).toBe(1);
      expect(more.counted).toEqual([text]);
    }
  });
});

describe('FR-WF-15d what white space adds', () => {
  test('FR-WF-15d is counted once for each stretch, the first one too, and is known the next time', () => {
    const {limit, counted} = counting(100);
    const counter = new TokenCounter(limit, undefined);
    const stretches = [0, 50].map(start => counter.count(start, LONG));
    for (const stretch of [...stretches, ...stretches]) expect(counter.behind(stretch, LONG, '\n\n')).toBe(0);
    expect(counted).toHaveLength(2 + 2 * 2);
    const again = counting(100);
    const known = new TokenCounter(again.limit, counter.counts);
    for (const start of [0, 50]) expect(known.behind(known.count(start, LONG), LONG, '\n\n')).toBe(0);
    expect(again.counted).toEqual([]);
  });

  test('FR-WF-15d is counted for a stretch that is not kept', () => {
    const {limit} = counting(100);
    const counter = new TokenCounter({...limit, countTokens: text => text.length}, undefined);
    expect(counter.behind(counter.count(0, 'short'), 'short', '\n\n')).toBe(2);
    expect(counter.behind(counter.count(20, LONG), LONG, '\n')).toBe(1);
  });
});

test.each([
  ['nothing', [], 10, 0],
  ['one stretch', [5, 20, 3, 0], 10, 20],
  ['one that has as many tokens as a chunk', [5, 20, 10, 0], 10, 20],
  ['one that has one more', [5, 20, 11, 0], 10, 0],
  ['two beside each other', [5, 20, 3, 0, 30, 7, 1, 0], 10, 27],
  ['one within the other', [5, 20, 3, 0, 4, 7, 1, 0], 10, 20],
  ['one across the end of the other', [5, 20, 3, 0, 15, 10, 1, 0], 10, 25],
  ['one within the other, and a third behind both', [5, 20, 3, 0, 4, 7, 1, 0, 11, 10, 1, 0], 10, 25],
])('FR-WF-CCH-CONTENT-01 what needs no counting: %s', (_, counts, maxTokens, units) => {
  expect(countedUnits(Int32Array.from(counts), maxTokens)).toBe(units);
});
