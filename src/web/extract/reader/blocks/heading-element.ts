import type {PageBlocks} from './page-blocks.ts';
import {headingLevelOf} from './place.ts';

/** The outermost heading around an element that is one or is inside one. */
export function headingElement({parent, place}: PageBlocks['elements'], start: number): number {
  let element = start;
  for (
    let above = parent[element] ?? -1;
    above > 0 && headingLevelOf(place[above] ?? 0) > 0;
    above = parent[above] ?? -1
  ) {
    element = above;
  }
  return element;
}
