import {CLASS_CATEGORIES} from '../blocks/class-evidence.ts';
import type {PageBlocks} from '../blocks/page-blocks.ts';
import type {PageSums} from './page-sums.ts';

const CATEGORIES = CLASS_CATEGORIES.length;
/** An element with more of the page says nothing of a part. */
const MOST = 0.95;

/** What the class categories say, a row for each of `classRows`. */
export interface ClassShares {
  /** The share of the page that the innermost element of each category has, -1 for none. */
  readonly inner: Float64Array;
  /** The same of the outermost one. */
  readonly outer: Float64Array;
  /** The share of the paragraphs that stand before the outermost one. */
  readonly before: Float64Array;
}

export function classSharesOf({blocks, elements, classRows}: PageBlocks, sums: PageSums): ClassShares {
  const size = classRows.length;
  const inner = new Float64Array(size).fill(-1);
  const outer = new Float64Array(size).fill(-1);
  const before = new Float64Array(size).fill(-1);
  const count = blocks.units.length;
  const total = Math.max(sums.units[count] ?? 0, 1);
  const totalProse = Math.max(sums.proseUnits[count] ?? 0, 1);
  const isDone = new Uint8Array(size / CATEGORIES);
  isDone[0] = 1;
  for (let element = 1; element < elements.node.length; element++) {
    const row = elements.classRow[element] ?? 0;
    if (isDone[row] === 1) continue;
    isDone[row] = 1;
    const first = elements.firstBlock[element] ?? 0;
    const units = (sums.units[elements.endBlock[element] ?? 0] ?? 0) - (sums.units[first] ?? 0);
    const share = units / total;
    const start = row * CATEGORIES;
    const from = (elements.classRow[elements.parent[element] ?? 0] ?? 0) * CATEGORIES;
    for (let category = 0; category < CATEGORIES; category++) {
      const at = start + category;
      const above = from + category;
      const isOwn = classRows[at] === element;
      inner[at] = isOwn ? (share < MOST ? share : -1) : (inner[above] as number);
      const isOutermost = isOwn && share < MOST && outer[above] === -1;
      outer[at] = isOutermost ? share : (outer[above] as number);
      before[at] = isOutermost ? (sums.proseUnits[first] ?? 0) / totalProse : (before[above] as number);
    }
  }
  return {inner, outer, before};
}
