import {FEATURES} from './feature-names.ts';
import {FITTED_FEATURES, WEIGHTS} from './weights.data.ts';

/** Small trees, one behind the other in flat arrays. */
export interface Trees {
  readonly roots: Int32Array;
  readonly features: Uint8Array;
  readonly thresholds: Float64Array;
  /** Of two entries a node: where a value that is at most the threshold leads, and a larger one. Below 0 is leaf `~n`. */
  readonly children: Int32Array;
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
  const features: number[] = [];
  const thresholds: number[] = [];
  const children: number[] = [];
  const leaves: number[] = [];
  let at = 0;
  while (at < bytes.length) {
    const count = bytes.readUInt8(at++);
    const firstNode = features.length;
    const firstLeaf = leaves.length;
    roots.push(count === 0 ? ~firstLeaf : firstNode);
    for (let node = 0; node < count; node++, at += 7) {
      features.push(bytes.readUInt8(at));
      for (const child of [bytes.readInt8(at + 1), bytes.readInt8(at + 2)]) {
        children.push(child < 0 ? ~(firstLeaf + ~child) : firstNode + child);
      }
      thresholds.push(bytes.readFloatLE(at + 3));
    }
    for (let leaf = 0; leaf <= count; leaf++, at += 2) leaves.push(bytes.readInt16LE(at));
  }
  return {
    roots: Int32Array.from(roots),
    features: Uint8Array.from(features),
    thresholds: Float64Array.from(thresholds),
    children: Int32Array.from(children),
    leaves: Int32Array.from(leaves),
  };
}

/** How much a block looks like main content, in 1/4096 of the natural logarithm of the odds. Additions and comparisons only. */
export function scoreOf(row: Float64Array, {roots, features, thresholds, children, leaves}: Trees): number {
  let sum = 0;
  for (let tree = 0; tree < roots.length; tree++) {
    let node = roots[tree] as number;
    while (node >= 0) {
      const value = row[features[node] as number] as number;
      node = children[2 * node + (value <= (thresholds[node] as number) ? 0 : 1)] as number;
    }
    sum += leaves[~node] as number;
  }
  return sum;
}
