import {expect, test} from 'vitest';
import {readTrees, scoreOf} from './block-score.ts';
import {FEATURES} from './feature-names.ts';

/** A tree as `bench/reader/fit` writes it: nodes `[feature, low, high, threshold]`, where a child below 0 is leaf `~child`. */
function written(
  nodes: readonly (readonly [number, number, number, number])[],
  leaves: readonly number[],
): Buffer {
  const bytes = Buffer.alloc(1 + 7 * nodes.length + 2 * leaves.length);
  bytes.writeUInt8(nodes.length, 0);
  for (const [at, [feature, low, high, threshold]] of nodes.entries()) {
    bytes.writeUInt8(feature, 1 + 7 * at);
    bytes.writeInt8(low, 2 + 7 * at);
    bytes.writeInt8(high, 3 + 7 * at);
    bytes.writeFloatLE(threshold, 4 + 7 * at);
  }
  for (const [at, leaf] of leaves.entries()) bytes.writeInt16LE(leaf, 1 + 7 * nodes.length + 2 * at);
  return bytes;
}

function score(trees: readonly Buffer[], features: Readonly<Record<number, number>>): number {
  const row = new Float64Array(FEATURES.length);
  for (const [feature, value] of Object.entries(features)) row[Number(feature)] = value;
  return scoreOf(row, readTrees(Buffer.concat(trees).toString('base64'), FEATURES.length));
}

// The second node leads to leaves, the first to it and, for what is larger, to the third.
const TREE = written(
  [
    [5, 1, 2, 0.5],
    [7, ~0, ~1, -2],
    [203, ~2, ~3, 1000],
  ],
  [1, 20, -300, 32_767],
);

test.each([
  [{5: 0.5, 7: -2}, 1],
  [{5: 0.5, 7: -1.9}, 20],
  [{5: 0.6, 203: 1000}, -300],
  [{5: 0.6, 203: 1001}, 32_767],
])('R2: a tree leads a block with %j to a leaf: a value at the threshold to the lower one', (row, sum) => {
  expect(score([TREE], row)).toBe(sum);
});

test('R2: the score is the sum of all trees, of which one may be a leaf alone', () => {
  const leaf = written([], [-32_768]);
  expect(score([leaf, TREE, leaf, TREE], {5: 1, 203: 1001})).toBe(2 * 32_767 - 2 * 32_768);
  expect(score([], {})).toBe(0);
});
