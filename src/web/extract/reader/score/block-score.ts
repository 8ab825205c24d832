import {FEATURES} from './feature-names.ts';
import {FITTED_FEATURES, WEIGHTS} from './weights.data.ts';

/** Small trees, one behind the other. */
export interface Trees {
  /** Where each begins in `nodes`; below 0 is leaf `~n`, here and in a node. */
  readonly roots: Int32Array;
  /** Four entries a node: the feature, where a value that is at most the threshold leads, where a larger one does, the threshold. */
  readonly nodes: Int32Array;
  /** The same memory, for the thresholds. */
  readonly thresholds: Float32Array;
  /** In 1/4096, so that a sum is whole and the same on every machine. */
  readonly leaves: Int32Array;
}

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
  const thresholds: number[] = [];
  const leaves: number[] = [];
  let at = 0;
  while (at < bytes.length) {
    const count = bytes.readUInt8(at++);
    const firstNode = nodes.length;
    const firstLeaf = leaves.length;
    roots.push(count === 0 ? ~firstLeaf : firstNode);
    for (let node = 0; node < count; node++, at += 7) {
      const [low, high] = [bytes.readInt8(at + 1), bytes.readInt8(at + 2)].map(child =>
        child < 0 ? ~(firstLeaf + ~child) : firstNode + 4 * child,
      );
      nodes.push(bytes.readUInt8(at), low ?? 0, high ?? 0, 0);
      thresholds.push(bytes.readFloatLE(at + 3));
    }
    for (let leaf = 0; leaf <= count; leaf++, at += 2) leaves.push(bytes.readInt16LE(at));
  }
  const packed = Int32Array.from(nodes);
  const asFloats = new Float32Array(packed.buffer);
  for (const [node, threshold] of thresholds.entries()) asFloats[4 * node + 3] = threshold;
  return {
    roots: Int32Array.from(roots),
    nodes: packed,
    thresholds: asFloats,
    leaves: Int32Array.from(leaves),
  };
}

/** How much a block looks like main content, in 1/4096 of the natural logarithm of the odds. Additions and comparisons only. */
export function scoreOf(row: Float64Array, {roots, nodes, thresholds, leaves}: Trees): number {
  let sum = 0;
  for (let tree = 0; tree < roots.length; tree++) {
    let node = roots[tree] as number;
    while (node >= 0) {
      const value = row[nodes[node] as number] as number;
      node = nodes[value <= (thresholds[node + 3] as number) ? node + 1 : node + 2] as number;
    }
    sum += leaves[~node] as number;
  }
  return sum;
}
