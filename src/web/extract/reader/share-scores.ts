import {TAG} from '../tree/tag.ts';
import type {PageBlocks} from './blocks/page-blocks.ts';

/** Of a longer block no more words count in a mean. */
const MOST_WORDS = 30;

/** A table, a list of terms and a list are kept or dropped as a whole, but for one that is most of the page. */
export function shareScores({blocks, elements}: PageBlocks, scores: Float64Array): Float64Array {
  const count = elements.node.length;
  const all = blocks.units.length;
  const unit = new Int32Array(count).fill(-1);
  const sums = new Float64Array(count);
  const weights = new Float64Array(count);
  for (let element = 1; element < count; element++) {
    const outer = unit[elements.parent[element] ?? 0] ?? -1;
    if (outer >= 0) unit[element] = outer;
    else if (isUnit(elements.tag[element] ?? 0)) {
      const size = (elements.endBlock[element] ?? 0) - (elements.firstBlock[element] ?? 0);
      if (size * 2 < all) unit[element] = element;
    }
  }
  for (let block = 0; block < all; block++) {
    const of = unit[blocks.element[block] ?? 0] ?? -1;
    if (of < 0 || (blocks.units[block] ?? 0) === 0) continue;
    const weight = weightOf(blocks.words[block] ?? 0);
    sums[of] = (sums[of] ?? 0) + weight * (scores[block] ?? 0);
    weights[of] = (weights[of] ?? 0) + weight;
  }
  return scores.map((score, block) => {
    const of = unit[blocks.element[block] ?? 0] ?? -1;
    const weight = of < 0 ? 0 : (weights[of] ?? 0);
    return weight === 0 ? score : (sums[of] ?? 0) / weight;
  });
}

function weightOf(words: number): number {
  return Math.min(words, MOST_WORDS) + 1;
}

function isUnit(tag: number): boolean {
  return tag === TAG.table || tag === TAG.ul || tag === TAG.ol || tag === TAG.dl;
}
