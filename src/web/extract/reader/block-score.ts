// Scores blocks by learned weights.

import {FEATURES} from './page-shape.ts';
import {FITTED_FEATURES, WEIGHTS} from './weights.data.ts';

/** Small trees, one behind the other, each with its nodes in the order in which they are first come by. */
export interface Trees {
  /** Where each tree begins. */
  readonly roots: Int32Array;
  /** Of a node the feature, and in the higher byte how many nodes further on a larger value leads; any other leads to the next node. */
  readonly nodes: Uint16Array;
  /** Of a node its threshold; of a leaf its part of the sum, in 1/4096, so that this is whole and the same on every machine. */
  readonly values: Float32Array;
}

/** In place of a feature: the node is a leaf. */
const LEAF = 0xff;

/** Scores are in 1/4096 of the natural logarithm of the odds. */
export const SCALE = 4096;

let fitted: Trees | undefined;

/** The trees of the product; they are read when the first page needs them. */
export function fittedTrees(): Trees {
  fitted ??= readTrees(WEIGHTS, FITTED_FEATURES);
  return fitted;
}

/** Reads what `bench/reader/fit` wrote: base64 of trees over so many features. */
export function readTrees(weights: string, featureCount: number): Trees {
  if (featureCount !== FEATURES.length) {
    throw new Error(
      `The trees are for ${featureCount} features, and there are ${FEATURES.length}: fit them anew.`,
    );
  }
  const bytes = Buffer.from(weights, 'base64');
  const roots: number[] = [];
  const nodes: number[] = [];
  const values: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    const count = bytes.readUInt8(at);
    const first = at + 1;
    const leaves = first + 7 * count;
    /** Writes a node, or below 0 leaf `~index`, with all that it leads to. */
    const write = (index: number): void => {
      const place = nodes.length;
      nodes.push(LEAF);
      values.push(
        index < 0 ? bytes.readInt16LE(leaves + 2 * ~index) : bytes.readFloatLE(first + 7 * index + 3),
      );
      if (index < 0) return;
      write(bytes.readInt8(first + 7 * index + 1));
      nodes[place] = bytes.readUInt8(first + 7 * index) | ((nodes.length - place) << 8);
      write(bytes.readInt8(first + 7 * index + 2));
    };
    roots.push(nodes.length);
    write(count === 0 ? ~0 : 0);
    at = leaves + 2 * (count + 1);
  }
  return {
    roots: Int32Array.from(roots),
    nodes: Uint16Array.from(nodes),
    values: Float32Array.from(values),
  };
}

/** How much a block looks like main content, in 1/4096 of the natural logarithm of the odds. Additions and comparisons only. */
export function scoreOf(row: Float64Array, {roots, nodes, values}: Trees): number {
  let sum = 0;
  for (let tree = 0; tree < roots.length; tree++) {
    let at = roots[tree] as number;
    let node = nodes[at] as number;
    while (node !== LEAF) {
      const value = row[node & LEAF] as number;
      at += value <= (values[at] as number) ? 1 : node >> 8;
      node = nodes[at] as number;
    }
    sum += values[at] as number;
  }
  return sum;
}
