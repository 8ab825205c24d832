import {TAG} from '../tree/tag.ts';
import type {PageBlocks} from './blocks/page-blocks.ts';
import {PLACE} from './blocks/place.ts';

/** Of the score of a block that is one of so many alike, this part is what they have at the mean. */
const LIKE_PART = 0.6;
const FEWEST_ALIKE = 4;
/** Of a longer block no more words count in a mean. */
const MOST_WORDS = 30;

/** The scores once what belongs together has its say: blocks that are alike, and the parts of a table or a list. */
export function shareScores(page: PageBlocks, scores: Float64Array): Float64Array {
  return withUnits(page, withAlike(page, scores));
}

interface Mean {
  sum: number;
  weight: number;
  count: number;
}

/** Blocks of one path are the paragraphs of a text, its captions, the replies of a thread: some alone are kept by chance. */
function withAlike({blocks, elements}: PageBlocks, scores: Float64Array): Float64Array {
  const means = new Map<number, Mean>();
  const pathOf = (block: number): number => elements.path[blocks.element[block] ?? 0] ?? 0;
  const isShown = (block: number): boolean =>
    (blocks.units[block] ?? 0) > 0 && ((blocks.place[block] ?? 0) & PLACE.hidden) === 0;
  for (let block = 0; block < scores.length; block++) {
    if (!isShown(block)) continue;
    const mean = means.get(pathOf(block)) ?? {sum: 0, weight: 0, count: 0};
    means.set(pathOf(block), mean);
    const weight = weightOf(blocks.words[block] ?? 0);
    mean.sum += weight * (scores[block] ?? 0);
    mean.weight += weight;
    mean.count++;
  }
  return scores.map((score, block) => {
    const mean = isShown(block) ? means.get(pathOf(block)) : undefined;
    if (mean === undefined || mean.count < FEWEST_ALIKE) return score;
    return (1 - LIKE_PART) * score + (LIKE_PART * mean.sum) / mean.weight;
  });
}

/** A table, a list of terms and a list are kept or dropped as a whole, but for one that is most of the page. */
function withUnits({blocks, elements}: PageBlocks, scores: Float64Array): Float64Array {
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
