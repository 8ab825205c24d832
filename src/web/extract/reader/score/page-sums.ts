import type {PageBlocks} from '../blocks/page-blocks.ts';
import {headingLevelOf, PLACE} from '../blocks/place.ts';

/** A block of so many words, with less than 40 % of them in links, is prose. */
const PROSE_WORDS = 15;

/** Sums over the first blocks of a page: those of an element are the difference of two of them. Hidden blocks count nothing. */
export interface PageSums {
  readonly isProse: Uint8Array;
  readonly units: Float64Array;
  readonly linkUnits: Float64Array;
  readonly words: Float64Array;
  readonly proseUnits: Float64Array;
  readonly proseBlocks: Float64Array;
  readonly blocks: Float64Array;
  readonly headings: Float64Array;
  readonly pictures: Float64Array;
  readonly stops: Float64Array;
  readonly fields: Float64Array;
}

export function sumBlocks({blocks}: PageBlocks): PageSums {
  const count = blocks.units.length;
  const sums = {
    isProse: new Uint8Array(count),
    units: new Float64Array(count + 1),
    linkUnits: new Float64Array(count + 1),
    words: new Float64Array(count + 1),
    proseUnits: new Float64Array(count + 1),
    proseBlocks: new Float64Array(count + 1),
    blocks: new Float64Array(count + 1),
    headings: new Float64Array(count + 1),
    pictures: new Float64Array(count + 1),
    stops: new Float64Array(count + 1),
    fields: new Float64Array(count + 1),
  };
  for (let block = 0; block < count; block++) {
    const place = blocks.place[block] ?? 0;
    const isShown = (place & PLACE.hidden) === 0;
    const units = isShown ? (blocks.units[block] ?? 0) : 0;
    const links = isShown ? (blocks.linkUnits[block] ?? 0) : 0;
    const words = isShown ? (blocks.words[block] ?? 0) : 0;
    const isProse = words >= PROSE_WORDS && links * 5 < units * 2;
    sums.isProse[block] = isProse ? 1 : 0;
    add(sums.units, block, units);
    add(sums.linkUnits, block, links);
    add(sums.words, block, words);
    add(sums.proseUnits, block, isProse ? units : 0);
    add(sums.proseBlocks, block, isProse ? 1 : 0);
    add(sums.blocks, block, units > 0 ? 1 : 0);
    add(sums.headings, block, units > 0 && headingLevelOf(place) > 0 ? 1 : 0);
    add(sums.pictures, block, isShown ? (blocks.pictures[block] ?? 0) : 0);
    add(sums.fields, block, blocks.fields[block] ?? 0);
    add(sums.stops, block, isShown ? (blocks.stops[block] ?? 0) : 0);
  }
  return sums;
}

function add(sums: Float64Array, block: number, value: number): void {
  sums[block + 1] = (sums[block] ?? 0) + value;
}

/** What `sums` have of the blocks from `first` on, up to `end`. */
export function between(sums: Float64Array, first: number, end: number): number {
  return (sums[end] ?? 0) - (sums[first] ?? 0);
}
