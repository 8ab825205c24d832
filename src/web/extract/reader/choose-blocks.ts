// Chooses the blocks that are main content by their scores.

import {TAG} from '../tree/tags.ts';
import {isCaption, textContainer, trimArticle} from './article-parts.ts';
import {SCALE} from './block-score.ts';
import {type Blocks, headingElement, headingLevelOf, type PageBlocks, PLACE} from './page-blocks.ts';
import type {Headline} from './title-blocks.ts';

/** Of an article what is more likely than not is kept. */
const EVEN = 0;
/** Where no container is plain to see less is asked for. Down these the threshold goes for a page of which too little is kept. */
const LADDER = [-0.45, -0.8, -1.25, -1.7, -2.28, -2.83, -3.36, -3.88, -4.4, Number.NEGATIVE_INFINITY].map(
  odds => odds * SCALE,
);
/** A page of which fewer words are kept, and less than half of all, is looked at again. */
const LEAST_WORDS = 50;
/** So is one that keeps less of the words that the scores expect to be main content. */
const LEAST_SHARE = 0.3;
/** In an article so much of what is kept is expected to be main content. */
const SURE = 0.7;
/** Fewer visible words than these, beside three times as many hidden ones: the page shows the latter by a script. */
const FEW_WORDS = 100;

interface Choice {
  /** 1 for each block that is kept. */
  readonly kept: Uint8Array;
  /** Hidden text was taken, as there was little else. */
  readonly fromHidden: boolean;
}

/** What the choice asks of the text and the names on a page. */
export interface PageText {
  readonly headlineOf: (withHidden: boolean) => Headline;
  /** Of the kept blocks those that are comments on an article. */
  readonly commentsOf: (kept: Uint8Array) => Uint8Array;
}

export function chooseBlocks(page: PageBlocks, scores: Float64Array, text: PageText): Choice {
  const shared = shareScores(page, scores);
  const visible = chooseAmong(page, shared, text, false);
  const {words} = visible;
  if (words < FEW_WORDS) {
    const hidden = chooseAmong(page, shared, text, true);
    if (hidden.words > 3 * words) return {kept: hidden.kept, fromHidden: true};
  }
  return {kept: visible.kept, fromHidden: false};
}

interface Chosen {
  readonly kept: Uint8Array;
  readonly words: number;
}

function chooseAmong(page: PageBlocks, scores: Float64Array, text: PageText, withHidden: boolean): Chosen {
  const {blocks} = page;
  const count = blocks.units.length;
  const headline = text.headlineOf(withHidden);
  const isOpen = (block: number): boolean => withHidden || ((blocks.place[block] ?? 0) & PLACE.hidden) === 0;
  const keptAbove = (threshold: number): Uint8Array =>
    Uint8Array.from(scores, (score, block) =>
      isOpen(block) && (blocks.units[block] ?? 0) > 0 && score > threshold ? 1 : 0,
    );
  let total = 0;
  let expected = 0;
  for (let block = 0; block < count; block++) {
    if (!isOpen(block)) continue;
    total += blocks.words[block] ?? 0;
    expected += expectedWords(blocks, scores, block);
  }
  const least = Math.min(LEAST_WORDS, total / 2);
  const likely = keptAbove(EVEN);
  const sure = sumOver(likely, block => expectedWords(blocks, scores, block));
  const isSure = sure >= SURE * CERTAIN * sumOver(likely, block => blocks.words[block] ?? 0);
  const isArticle = isSure && textContainer(page, likely).isArticle;
  // Of a few words none can be missed.
  const thresholds = total < LEAST_WORDS ? LADDER.slice(-1) : isArticle ? [EVEN, ...LADDER] : LADDER;
  for (const threshold of thresholds) {
    const kept = keptAbove(threshold);
    const isLast = threshold === Number.NEGATIVE_INFINITY;
    if (!isLast) settleHeadings(page, scores, kept, threshold);
    const words = sumOver(kept, block => blocks.words[block] ?? 0);
    const common = sumOver(kept, block => expectedWords(blocks, scores, block));
    if ((words < least || common < LEAST_SHARE * expected) && !isLast) continue;
    if (!isLast) {
      for (const [block, isComment] of text.commentsOf(kept).entries()) if (isComment === 1) kept[block] = 0;
      if (isArticle) trimArticle(page, scores, kept, headline.blocks);
      dropLastHeading(page, kept);
    }
    const own = headline.blocks.filter(isOpen);
    for (const block of own) kept[block] = 1;
    keepBetween(page, kept, isOpen);
    // Where the title of the page says the headline, it stands above the text, and not in it too.
    const isAbove =
      headline.isInTitle && !isLast && kept.some((one, block) => one === 1 && !own.includes(block));
    if (isAbove) for (const block of own) kept[block] = 0;
    return {kept, words};
  }
  return {kept: new Uint8Array(count), words: 0};
}

function sumOver(kept: Uint8Array, of: (block: number) => number): number {
  let sum = 0;
  for (let block = 0; block < kept.length; block++) if (kept[block] === 1) sum += of(block);
  return sum;
}

const CERTAIN = 4096;
/** The chance that a block of such odds, from -8 on by eighths, is main content: whole numbers, the same on every machine. */
const CHANCES = Float64Array.from({length: 129}, (_, at) => Math.round(CERTAIN / (1 + Math.exp(8 - at / 8))));

/** Of a block those that its score lets expect to be main content, as a share of `CERTAIN`. */
function expectedWords({words}: Blocks, scores: Float64Array, block: number): number {
  const at = Math.round(((scores[block] ?? 0) / SCALE + 8) * 8);
  return (words[block] ?? 0) * (CHANCES[Math.max(0, Math.min(at, 128))] ?? 0);
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

/** A heading that alone is left below all text goes with what it was the heading of; several are a list. */
function dropLastHeading({blocks, elements}: PageBlocks, kept: Uint8Array): void {
  let heading = -1;
  let first = kept.length;
  let block = kept.length - 1;
  for (; block >= 0; block--) {
    if (kept[block] === 0) continue;
    if (headingLevelOf(blocks.place[block] ?? 0) === 0) break;
    const own = headingElement(elements, blocks.element[block] ?? 0);
    if (heading >= 0 && own !== heading) return;
    heading = own;
    first = block;
  }
  // Without any text the headings are what the page says.
  if (block >= 0) kept.fill(0, first);
}

/** Of a heading without text below it. */
const LONE_HEADING = 0.5 * SCALE;
/** Of a heading right above kept text. */
const HEADING = -3 * SCALE;
/** Of one that links to a place on the page, as headings of documentation do to themselves. */
const LINKED_HEADING = -4 * SCALE;
/** Between a heading and its text so many lines of so many words may be dropped that are a link or a button. */
const MOST_LINES = 3;
const MOST_WORDS = 5;

/** A heading stays with the text below it. */
function settleHeadings(page: PageBlocks, scores: Float64Array, kept: Uint8Array, threshold: number): void {
  const {blocks, elements} = page;
  /** The kept text below, -1 for none; the lines dropped above it, and the last of them; the level of the heading above it. */
  let text = -1;
  let lines = 0;
  let lastLine = -1;
  let levelBelow = 0;
  for (let block = kept.length - 1; block >= 0; block--) {
    if ((blocks.units[block] ?? 0) === 0 || isHidden(blocks, block)) continue;
    const level = headingLevelOf(blocks.place[block] ?? 0);
    if (level === 0) {
      const isPassed = kept[block] === 0 && text >= 0 && levelBelow === 0 && lines < MOST_LINES;
      if (isPassed && isLine(blocks, block)) {
        if (lines === 0) lastLine = block;
        lines++;
        continue;
      }
      text = kept[block] === 1 ? block : -1;
      lines = 0;
      levelBelow = 0;
      continue;
    }
    const hasText =
      text >= 0 &&
      (lines === 0 || isAround(page, headingElement(elements, blocks.element[block] ?? 0), lastLine, text)) &&
      // The text belongs to a heading of a higher rank.
      (levelBelow === 0 || level <= levelBelow);
    const score = scores[block] ?? 0;
    const ofItself = (blocks.anchors[block] ?? 0) > 0 ? LINKED_HEADING : HEADING;
    kept[block] = (hasText ? score > Math.min(ofItself, threshold) : score > LONE_HEADING) ? 1 : 0;
    levelBelow = level;
  }
}

function isLine({units, words, linkUnits, place}: Blocks, block: number): boolean {
  if ((words[block] ?? 0) > MOST_WORDS) return false;
  // Brackets around it are no text.
  return (
    ((place[block] ?? 0) & PLACE.button) !== 0 || (linkUnits[block] ?? 0) + 2 >= (units[block] ?? 0) * 0.8
  );
}

/**
 * The nearest element around the heading that also has the lines below it has the text, too; not counting one that has
 * nothing else, as those around a heading and its link to edit. A list that a heading stands over is more.
 */
function isAround({blocks, elements}: PageBlocks, heading: number, lastLine: number, text: number): boolean {
  const {parent, firstBlock, endBlock} = elements;
  const first = firstBlock[heading] ?? 0;
  let around = parent[heading] ?? 0;
  while (around > 0 && (endBlock[around] ?? 0) <= lastLine) around = parent[around] ?? 0;
  const isList = ((blocks.place[lastLine] ?? 0) & PLACE.list) !== 0;
  while (!isList && around > 0 && firstBlock[around] === first && endBlock[around] === lastLine + 1) {
    around = parent[around] ?? 0;
  }
  return (endBlock[around] ?? 0) > text;
}

function isHidden({place}: Blocks, block: number): boolean {
  return ((place[block] ?? 0) & PLACE.hidden) !== 0;
}

/** Of the score of a block that is one of so many alike, this part is what they have at the mean. */
const LIKE_PART = 0.6;
const FEWEST_ALIKE = 4;
/** Of a longer block no more words count in a mean. */
const MOST_WEIGHING_WORDS = 30;

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
  return Math.min(words, MOST_WEIGHING_WORDS) + 1;
}

function isUnit(tag: number): boolean {
  return tag === TAG.table || tag === TAG.ul || tag === TAG.ol || tag === TAG.dl;
}
