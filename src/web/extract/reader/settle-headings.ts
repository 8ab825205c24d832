import {headingElement} from './blocks/heading-element.ts';
import type {Blocks, PageBlocks} from './blocks/page-blocks.ts';
import {headingLevelOf, PLACE} from './blocks/place.ts';
import {SCALE} from './score/block-score.ts';

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
export function settleHeadings(
  page: PageBlocks,
  scores: Float64Array,
  kept: Uint8Array,
  threshold: number,
): void {
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
