import {CLASS_CATEGORIES} from '../blocks/class-evidence.ts';
import type {PageBlocks} from '../blocks/page-blocks.ts';
import {BEFORE_CATEGORIES, OUTER_CATEGORIES} from './feature-names.ts';
import type {PageSums} from './page-sums.ts';

const CATEGORIES = CLASS_CATEGORIES.length;
const OUTER = OUTER_CATEGORIES.map(name => CLASS_CATEGORIES.indexOf(name));
/** Places in a row of `outer`. */
const BEFORE = BEFORE_CATEGORIES.map(name => OUTER_CATEGORIES.indexOf(name));
/** An element with more of the page says nothing of a part. */
const MOST = 0.95;

/** What the class categories say, a row for each of `classRows`. */
export interface ClassShares {
  /** The share of the page that the innermost element of each category has, -1 for none. */
  readonly inner: Float64Array;
  /** The same of the outermost one, for each of `OUTER_CATEGORIES`. */
  readonly outer: Float64Array;
  /** The share of the paragraphs that stand before the outermost one, for each of `BEFORE_CATEGORIES`. */
  readonly before: Float64Array;
}

export function classSharesOf({blocks, elements, classRows}: PageBlocks, sums: PageSums): ClassShares {
  const rows = classRows.length / CATEGORIES;
  const inner = new Float64Array(rows * CATEGORIES).fill(-1);
  const outer = new Float64Array(rows * OUTER.length).fill(-1);
  const before = new Float64Array(rows * BEFORE.length).fill(-1);
  const count = blocks.units.length;
  const total = Math.max(sums.units[count] ?? 0, 1);
  const totalProse = Math.max(sums.proseUnits[count] ?? 0, 1);
  const isDone = new Uint8Array(rows);
  isDone[0] = 1;
  for (let element = 1; element < elements.node.length; element++) {
    const row = elements.classRow[element] ?? 0;
    if (isDone[row] === 1) continue;
    isDone[row] = 1;
    const first = elements.firstBlock[element] ?? 0;
    const units = (sums.units[elements.endBlock[element] ?? 0] ?? 0) - (sums.units[first] ?? 0);
    const share = units / total;
    const says = share < MOST;
    const from = elements.classRow[elements.parent[element] ?? 0] ?? 0;
    const start = row * CATEGORIES;
    inner.copyWithin(start, from * CATEGORIES, (from + 1) * CATEGORIES);
    outer.copyWithin(row * OUTER.length, from * OUTER.length, (from + 1) * OUTER.length);
    before.copyWithin(row * BEFORE.length, from * BEFORE.length, (from + 1) * BEFORE.length);
    for (let category = 0; category < CATEGORIES; category++) {
      if (classRows[start + category] === element) inner[start + category] = says ? share : -1;
    }
    if (!says) continue;
    const prose = (sums.proseUnits[first] ?? 0) / totalProse;
    for (let at = 0; at < OUTER.length; at++) {
      if (classRows[start + (OUTER[at] ?? 0)] !== element || outer[row * OUTER.length + at] !== -1) continue;
      outer[row * OUTER.length + at] = share;
      const place = BEFORE.indexOf(at);
      if (place >= 0) before[row * BEFORE.length + place] = prose;
    }
  }
  return {inner, outer, before};
}
