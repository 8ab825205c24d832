import type {PageBlocks} from './blocks/page-blocks.ts';
import {PLACE} from './blocks/place.ts';
import {dropLastHeading} from './drop-last-heading.ts';
import {bestThreshold} from './score/best-threshold.ts';
import {SCALE} from './score/block-score.ts';
import {settleHeadings} from './settle-headings.ts';
import {shareScores} from './share-scores.ts';

/** Down these the threshold goes for a page of which too little is kept. */
const LADDER = [-0.8, -1.25, -1.7, -2.28, -2.83, -3.36, -3.88, -4.4, Number.NEGATIVE_INFINITY].map(
  odds => odds * SCALE,
);
/** A page of which fewer words are kept, and less than half of all, is looked at again; so is one that loses most of its text. */
const LEAST_WORDS = 50;
const LEAST_SHARE = 0.1;
/** Fewer visible words than these, beside three times as many hidden ones: the page shows the latter by a script. */
const FEW_WORDS = 100;

export interface Choice {
  /** 1 for each block that is kept. */
  readonly kept: Uint8Array;
  /** Hidden text was taken, as there was little else. */
  readonly fromHidden: boolean;
}

/** `scores` are those of the blocks; `titlesOf` says which headings are kept whatever their score. */
export function chooseBlocks(
  page: PageBlocks,
  scores: Float64Array,
  titlesOf: (withHidden: boolean) => readonly number[],
): Choice {
  const shared = shareScores(page, scores);
  const visible = chooseAmong(page, shared, titlesOf(false), false);
  const {words} = visible;
  if (words < FEW_WORDS) {
    const hidden = chooseAmong(page, shared, titlesOf(true), true);
    if (hidden.words > 3 * words) return {kept: hidden.kept, fromHidden: true};
  }
  return {kept: visible.kept, fromHidden: false};
}

interface Chosen {
  readonly kept: Uint8Array;
  readonly words: number;
}

function chooseAmong(
  page: PageBlocks,
  scores: Float64Array,
  titles: readonly number[],
  withHidden: boolean,
): Chosen {
  const {blocks} = page;
  const count = blocks.units.length;
  const isOpen = (block: number): boolean => withHidden || ((blocks.place[block] ?? 0) & PLACE.hidden) === 0;
  let total = 0;
  for (let block = 0; block < count; block++) if (isOpen(block)) total += blocks.words[block] ?? 0;
  const least = Math.max(Math.min(LEAST_WORDS, total / 2), total * LEAST_SHARE);
  const best = bestThreshold(blocks, scores, isOpen);
  // Of a few words none can be missed.
  const thresholds =
    total < LEAST_WORDS ? LADDER.slice(-1) : [best, ...LADDER.filter(threshold => threshold < best)];
  for (const threshold of thresholds) {
    const kept = new Uint8Array(count);
    for (let block = 0; block < count; block++) {
      const isText = isOpen(block) && (blocks.units[block] ?? 0) > 0;
      if (isText && (scores[block] ?? 0) > threshold) kept[block] = 1;
    }
    const isLast = threshold === Number.NEGATIVE_INFINITY;
    if (!isLast) settleHeadings(page, scores, kept, threshold);
    let words = 0;
    for (let block = 0; block < count; block++) if (kept[block] === 1) words += blocks.words[block] ?? 0;
    if (words < least && !isLast) continue;
    if (!isLast) dropLastHeading(page, kept);
    for (const title of titles) if (isOpen(title)) kept[title] = 1;
    keepBetween(page, kept, isOpen);
    return {kept, words};
  }
  return {kept: new Uint8Array(count), words: 0};
}

/** Between the first and the last kept block all code is kept, and every picture between two kept neighbours. */
function keepBetween({blocks}: PageBlocks, kept: Uint8Array, isOpen: (block: number) => boolean): void {
  const first = kept.indexOf(1);
  const last = kept.lastIndexOf(1);
  if (first < 0) return;
  // A caption that is dropped does not take its picture with it.
  const isNeighbour = (block: number): boolean =>
    (blocks.units[block] ?? 0) > 0 && (kept[block] === 1 || !isCaption(blocks.place[block] ?? 0));
  let before = 0;
  let next = first;
  for (let block = first; block <= last; block++) {
    if (!isOpen(block)) continue;
    if ((blocks.units[block] ?? 0) > 0) {
      if (((blocks.place[block] ?? 0) & PLACE.preformatted) !== 0) kept[block] = 1;
      if (isNeighbour(block)) before = kept[block] ?? 0;
      continue;
    }
    if (next <= block) {
      next = block + 1;
      while (next < kept.length && !isNeighbour(next)) next++;
    }
    if (before === 1 && kept[next] === 1) kept[block] = 1;
  }
}

function isCaption(place: number): boolean {
  return (place & PLACE.caption) !== 0 && (place & PLACE.figure) !== 0;
}
