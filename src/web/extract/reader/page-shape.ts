// Measures of a whole page that the features of its blocks come from.

import {TAG} from '../tree/tags.ts';
import {CLASS_CATEGORIES, type ClassCategory} from './class-evidence.ts';
import {headingLevelOf, type PageBlocks, PLACE, PLACE_NAMES} from './page-blocks.ts';

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

const CATEGORIES = CLASS_CATEGORIES.length;
// biome-ignore format: a list
/** Categories whose elements stand within each other: of these the outermost one speaks too. */
export const OUTER_CATEGORIES: readonly ClassCategory[] = [
  ...([
    'content', 'list', 'article', 'hidden', 'dialog', 'navigation', 'widget', 'header', 'footer',
    'pagination',
  ] as const),
  ...([
    'comments', 'tabs', 'product', 'review', 'description', 'button', 'sidebar', 'title', 'tags', 'caption',
    'related',
  ] as const),
];
const OUTER = OUTER_CATEGORIES.map(name => CLASS_CATEGORIES.indexOf(name));

/** Categories of which it says something how much of the page stands before. */
export const BEFORE_CATEGORIES: readonly ClassCategory[] = [
  'comments',
  'related',
  'article',
  'footer',
  'sidebar',
];
/** Places in a row of `outer`. */
const BEFORE = BEFORE_CATEGORIES.map(name => OUTER_CATEGORIES.indexOf(name));
/** An element with more of the page says nothing of a part. */
const MOST = 0.95;

/** What the class categories say, a row for each of `classRows`. */
export interface ClassShares {
  /** The share of the page that the innermost element of each category has, -1 for none. */
  readonly inner: Float64Array;
  /** The same of the outermost one, for each of `OUTER_CATEGORIES`. */
  readonly outer: Float64Array;
  /** The share of the paragraphs that stand before the outermost one, for each of `BEFORE_CATEGORIES`. */
  readonly before: Float64Array;
}

export function classSharesOf({blocks, elements, classRows}: PageBlocks, sums: PageSums): ClassShares {
  const rows = classRows.length / CATEGORIES;
  const inner = new Float64Array(rows * CATEGORIES).fill(-1);
  const outer = new Float64Array(rows * OUTER.length).fill(-1);
  const before = new Float64Array(rows * BEFORE.length).fill(-1);
  const count = blocks.units.length;
  const total = Math.max(sums.units[count] ?? 0, 1);
  const totalProse = Math.max(sums.proseUnits[count] ?? 0, 1);
  const isDone = new Uint8Array(rows);
  isDone[0] = 1;
  for (let element = 1; element < elements.node.length; element++) {
    const row = elements.classRow[element] ?? 0;
    if (isDone[row] === 1) continue;
    isDone[row] = 1;
    const first = elements.firstBlock[element] ?? 0;
    const units = (sums.units[elements.endBlock[element] ?? 0] ?? 0) - (sums.units[first] ?? 0);
    const share = units / total;
    const says = share < MOST;
    const from = elements.classRow[elements.parent[element] ?? 0] ?? 0;
    const start = row * CATEGORIES;
    inner.copyWithin(start, from * CATEGORIES, (from + 1) * CATEGORIES);
    outer.copyWithin(row * OUTER.length, from * OUTER.length, (from + 1) * OUTER.length);
    before.copyWithin(row * BEFORE.length, from * BEFORE.length, (from + 1) * BEFORE.length);
    for (let category = 0; category < CATEGORIES; category++) {
      if (classRows[start + category] === element) inner[start + category] = says ? share : -1;
    }
    if (!says) continue;
    const prose = (sums.proseUnits[first] ?? 0) / totalProse;
    for (let at = 0; at < OUTER.length; at++) {
      if (classRows[start + (OUTER[at] ?? 0)] !== element || outer[row * OUTER.length + at] !== -1) continue;
      outer[row * OUTER.length + at] = share;
      const place = BEFORE.indexOf(at);
      if (place >= 0) before[row * BEFORE.length + place] = prose;
    }
  }
  return {inner, outer, before};
}

/** What a text begins with: a letter, a figure, a sign of money, another sign. */
export function firstKind(unit: number): number {
  if (unit >= 0x30 && unit <= 0x39) return 1;
  if (unit === 0x24 || unit === 0xa3 || unit === 0xa5 || unit === 0x20ac) return 2;
  if (unit === 0xa9) return 3;
  return unit < 0x30 || (unit >= 0x2010 && unit <= 0x2bff) ? 4 : 0;
}

/** What a text ends with: a letter, a figure, the end of a sentence, a colon, a question, an ellipsis, a bracket. */
export function lastKind(unit: number): number {
  if (unit >= 0x30 && unit <= 0x39) return 1;
  if (unit === 0x2e || unit === 0x3002) return 2;
  if (unit === 0x3a) return 3;
  if (unit === 0x3f || unit === 0x21) return 4;
  if (unit === 0x2026) return 5;
  if (unit === 0x29 || unit === 0x5d) return 6;
  return unit < 0x41 || (unit >= 0x2010 && unit <= 0x2bff) ? 7 : 0;
}

export const CONTAINERS = 5;
export const CONTAINER_NAMES = ['share', 'links', 'prose', 'blocks', 'wordsPerBlock', 'headings', 'fields'];
const SECTION_NAMES = ['blocks', 'share', 'prose', 'links', 'pictures', 'place', 'titleWords'];
export const NEIGHBOURS = [-2, -1, 1, 2];

// biome-ignore format: a list
/** The features of a block, in the order in which they stand in a row. */
export const FEATURES: readonly string[] = [
  ...['words', 'linkShare', 'links', 'stopRate', 'commaRate', 'digitShare', 'upperShare', 'boldShare'],
  ...[
    'endsWithStop', 'pictures', 'level', 'depth', 'unitsPerWord', 'firstKind', 'copies', 'isCopy', 'anchors',
    'dividerRate', 'lastKind', 'tag',
  ],
  ...PLACE_NAMES,
  ...NEIGHBOURS.flatMap(step => ['Words', 'Links', 'Level'].map(name => `at${step}${name}`)),
  ...['proseBefore', 'proseAfter', 'prosePassed', 'unitsPassed', 'headingDistance', 'headingLevel'],
  ...['longBefore', 'longAfter', 'fieldsNear', ...SECTION_NAMES.map(name => `section${name}`)],
  ...['titleDistance', 'windowProse', 'windowLinks'],
  ...Array.from({length: CONTAINERS}, (_, at) => CONTAINER_NAMES.map(name => `around${at}${name}`)).flat(),
  ...CONTAINER_NAMES.map(name => `underHalf${name}`),
  ...[
    'inBest',
    'bestDistance',
    'bestShare',
    'bestGap',
    'listShare',
    'listLinks',
    'listWords',
    'inWide',
    'wideShare',
  ],
  ...['alike', 'alikeWords', 'alikeLinks', 'alikeHeadings', 'alikeShare', 'alikePictures', 'alikePlace'],
  ...['pathBlocks', 'pathShare', 'pathWords', 'pathLinks', 'pathProse'],
  ...['pageProse', 'pageLinks', 'pageStops', 'articleShare', 'mainShare'],
  ...CLASS_CATEGORIES.map(name => `class${name}`),
  ...OUTER_CATEGORIES.map(name => `outer${name}`),
  ...BEFORE_CATEGORIES.map(name => `before${name}`),
];
