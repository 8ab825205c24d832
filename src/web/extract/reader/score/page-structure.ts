import {TAG} from '../../tree/tag.ts';
import type {PageBlocks} from '../blocks/page-blocks.ts';
import type {PageSums} from './page-sums.ts';

/** What is known of the elements of a page once all its blocks are. Every array has an entry for each element. */
export interface PageStructure {
  /** The nearest element around that holds more blocks, -1 for none. */
  readonly wider: Int32Array;
  /** The outermost element around with less than half of the text, or the element itself. */
  readonly underHalf: Int32Array;
  /** The innermost element around, or the element itself, that is one of at least three alike; -1 for none. */
  readonly repeated: Int32Array;
  /** How many of its siblings are like it, itself included. */
  readonly alike: Int32Array;
  /** The element whose paragraphs say most. */
  readonly best: number;
  /** Steps to it through the tree. */
  readonly distance: Int32Array;
  /** The nearest list or table around, -1 for none. */
  readonly list: Int32Array;
  /** The outermost element that is half prose. */
  readonly wide: number;
}

export function structureOf(page: PageBlocks, sums: PageSums): PageStructure {
  const {elements} = page;
  const count = elements.node.length;
  const {parent, firstBlock, endBlock, depth, own, tag} = elements;
  const total = sums.units[sums.units.length - 1] ?? 0;
  const wider = new Int32Array(count).fill(-1);
  const underHalf = new Int32Array(count).fill(-1);
  const alike = new Int32Array(count);
  const repeated = new Int32Array(count).fill(-1);
  const list = new Int32Array(count).fill(-1);
  const siblings = new Map<number, number>();
  const keys = new Int32Array(count);
  for (let element = 1; element < count; element++) {
    const above = parent[element] ?? 0;
    list[element] = isList(tag[element] ?? 0) ? element : (list[above] ?? -1);
    const first = firstBlock[element] ?? 0;
    const end = endBlock[element] ?? 0;
    const aboveBlocks = (endBlock[above] ?? 0) - (firstBlock[above] ?? 0);
    wider[element] = aboveBlocks > end - first ? above : (wider[above] ?? -1);
    const units = (sums.units[end] ?? 0) - (sums.units[first] ?? 0);
    if (units * 2 <= total) {
      const outer = underHalf[above] ?? -1;
      underHalf[element] = outer >= 0 ? outer : element;
    }
    if (end > first) {
      // A hash as `own` is one: a pair that is told apart wrongly counts one more, and whole numbers are looked up in half the time.
      const key = Math.imul(above, 0x9e3779b1) ^ (own[element] ?? 0);
      keys[element] = key;
      siblings.set(key, (siblings.get(key) ?? 0) + 1);
    }
  }
  for (let element = 1; element < count; element++) {
    const isEmpty = (endBlock[element] ?? 0) <= (firstBlock[element] ?? 0);
    const number = isEmpty ? 0 : (siblings.get(keys[element] ?? 0) ?? 0);
    alike[element] = number;
    repeated[element] = number >= 3 ? element : (repeated[parent[element] ?? 0] ?? -1);
  }
  const best = bestContainer(page, sums);
  let wide = 0;
  for (let element = 1; element < count; element++) {
    const first = firstBlock[element] ?? 0;
    const end = endBlock[element] ?? 0;
    const units = (sums.units[end] ?? 0) - (sums.units[first] ?? 0);
    const prose = (sums.proseUnits[end] ?? 0) - (sums.proseUnits[first] ?? 0);
    if (tag[element] === TAG.html || tag[element] === TAG.body) continue;
    if (prose * 2 >= units && prose * 4 >= (sums.proseUnits[sums.proseUnits.length - 1] ?? 0) && prose > 0) {
      wide = element;
      break;
    }
  }
  return {wider, underHalf, list, repeated, alike, best, distance: distancesTo(best, depth, parent), wide};
}

function isList(tag: number): boolean {
  return tag === TAG.ul || tag === TAG.ol || tag === TAG.dl || tag === TAG.table;
}

/** A paragraph speaks for the element around it, and less for those around that. */
function bestContainer({blocks, elements}: PageBlocks, sums: PageSums): number {
  const scores = new Float64Array(elements.node.length);
  for (const [block, start] of blocks.element.entries()) {
    if (sums.isProse[block] !== 1) continue;
    let score = Math.min(blocks.words[block] ?? 0, 150) + 3 * (blocks.commas[block] ?? 0) + 5;
    let element = elements.parent[start] ?? -1;
    for (let step = 0; step < 4 && element > 0; step++) {
      scores[element] = (scores[element] ?? 0) + score;
      score *= step === 0 ? 0.6 : 0.5;
      element = elements.parent[element] ?? -1;
    }
  }
  let best = 0;
  let highest = 0;
  for (let element = 1; element < scores.length; element++) {
    const plain = scores[element] ?? 0;
    if (plain <= highest) continue;
    const first = elements.firstBlock[element] ?? 0;
    const end = elements.endBlock[element] ?? 0;
    const units = (sums.units[end] ?? 0) - (sums.units[first] ?? 0);
    const links = (sums.linkUnits[end] ?? 0) - (sums.linkUnits[first] ?? 0);
    const score = units === 0 ? 0 : plain * (1 - links / units);
    if (score > highest) {
      highest = score;
      best = element;
    }
  }
  return best;
}

function distancesTo(best: number, depth: readonly number[], parent: readonly number[]): Int32Array {
  const isAround = new Uint8Array(depth.length);
  for (let element = best; element >= 0; element = parent[element] ?? -1) isAround[element] = 1;
  const common = new Int32Array(depth.length);
  const distance = new Int32Array(depth.length);
  const bestDepth = depth[best] ?? 0;
  for (let element = 0; element < depth.length; element++) {
    const own = depth[element] ?? 0;
    common[element] = isAround[element] === 1 ? own : (common[parent[element] ?? 0] ?? 0);
    distance[element] = own + bestDepth - 2 * (common[element] ?? 0);
  }
  return distance;
}
