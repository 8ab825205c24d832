import {headingElement} from './blocks/heading-element.ts';
import type {PageBlocks} from './blocks/page-blocks.ts';
import {headingLevelOf} from './blocks/place.ts';

/** A heading that alone is left below all text goes with what it was the heading of; several are a list. */
export function dropLastHeading({blocks, elements}: PageBlocks, kept: Uint8Array): void {
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
