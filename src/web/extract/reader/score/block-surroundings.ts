import type {PageBlocks} from '../blocks/page-blocks.ts';
import {headingLevelOf, PLACE} from '../blocks/place.ts';
import type {PageSums} from './page-sums.ts';

/** Blocks further away than this are equally far. */
export const FAR = 50;
/** Words of a paragraph that is hardly ever furniture. */
export const LONG = 40;

/** All blocks whose elements have the same names and classes, up to the root. */
interface PathGroup {
  blocks: number;
  units: number;
  words: number;
  linkUnits: number;
  proseUnits: number;
}

/** What a block cannot see from what stands before it. */
export interface Surroundings {
  /** Of each block how far the next paragraph is, and the next long one. */
  readonly proseAfter: Int32Array;
  readonly longAfter: Int32Array;
  /** Of each block the next heading. */
  readonly sectionEnd: Int32Array;
  /** How many blocks have the same text, by its hash. */
  readonly copies: ReadonlyMap<number, number>;
  readonly paths: ReadonlyMap<number, PathGroup>;
  /** The first `h1`, -1 for none. */
  readonly titleBlock: number;
  /** Shares of the visible text. */
  readonly articleShare: number;
  readonly mainShare: number;
}

export function surroundingsOf({blocks, elements}: PageBlocks, sums: PageSums): Surroundings {
  const count = blocks.units.length;
  const total = Math.max(sums.units[count] ?? 0, 1);
  const proseAfter = new Int32Array(count);
  const longAfter = new Int32Array(count);
  const sectionEnd = new Int32Array(count);
  let next = count + FAR;
  let nextLong = count + FAR;
  let nextHeading = count;
  let title = -1;
  let inArticle = 0;
  let inMain = 0;
  for (let block = count - 1; block >= 0; block--) {
    proseAfter[block] = next - block;
    if (sums.isProse[block] === 1) next = block;
    longAfter[block] = nextLong - block;
    if ((blocks.words[block] ?? 0) >= LONG && sums.isProse[block] === 1) nextLong = block;
    const place = blocks.place[block] ?? 0;
    sectionEnd[block] = nextHeading;
    if (headingLevelOf(place) > 0 && (blocks.units[block] ?? 0) > 0) nextHeading = block;
    if ((place & PLACE.hidden) !== 0) continue;
    if (headingLevelOf(place) === 1) title = block;
    const units = blocks.units[block] ?? 0;
    if ((place & PLACE.article) !== 0) inArticle += units;
    if ((place & PLACE.main) !== 0) inMain += units;
  }
  const copies = new Map<number, number>();
  const paths = new Map<number, PathGroup>();
  for (let block = 0; block < count; block++) {
    const hash = blocks.hash[block] ?? 0;
    copies.set(hash, (copies.get(hash) ?? 0) + 1);
    const path = elements.path[blocks.element[block] ?? 0] ?? 0;
    let group = paths.get(path);
    if (group === undefined) {
      group = {blocks: 0, units: 0, words: 0, linkUnits: 0, proseUnits: 0};
      paths.set(path, group);
    }
    group.blocks++;
    group.units += blocks.units[block] ?? 0;
    group.words += blocks.words[block] ?? 0;
    group.linkUnits += blocks.linkUnits[block] ?? 0;
    if (sums.isProse[block] === 1) group.proseUnits += blocks.units[block] ?? 0;
  }
  return {
    proseAfter,
    longAfter,
    sectionEnd,
    copies,
    paths,
    titleBlock: title,
    articleShare: inArticle / total,
    mainShare: inMain / total,
  };
}
