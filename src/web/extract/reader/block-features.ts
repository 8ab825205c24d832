// The numbers by which a block is scored as main content.

import {CLASS_CATEGORIES} from './class-evidence.ts';
import {headingLevelOf, type PageBlocks, PLACE_NAMES} from './page-blocks.ts';
import {
  BEFORE_CATEGORIES,
  between,
  type ClassShares,
  CONTAINER_NAMES,
  CONTAINERS,
  classSharesOf,
  FAR,
  FEATURES,
  firstKind,
  LONG,
  lastKind,
  NEIGHBOURS,
  OUTER_CATEGORIES,
  type PageStructure,
  type PageSums,
  type Surroundings,
  structureOf,
  sumBlocks,
  surroundingsOf,
} from './page-shape.ts';

const CATEGORIES = CLASS_CATEGORIES.length;
const OUTER = OUTER_CATEGORIES.length;
const BEFORE = BEFORE_CATEGORIES.length;

/** Fills rows of features, one block after the other from the first on. */
export class BlockFeatures {
  readonly row = new Float64Array(FEATURES.length);
  readonly sums: PageSums;
  readonly structure: PageStructure;
  readonly #page: PageBlocks;
  readonly #count: number;
  readonly #around: Surroundings;
  readonly #classes: ClassShares;
  readonly #seen = new Set<number>();
  readonly #totalUnits: number;
  readonly #totalProse: number;
  #lastLong = -FAR;
  #lastProse = -FAR;
  #lastHeading = -FAR;
  #lastLevel = 0;
  #at = 0;

  constructor(page: PageBlocks) {
    this.#page = page;
    this.sums = sumBlocks(page);
    this.structure = structureOf(page, this.sums);
    const count = page.blocks.units.length;
    this.#count = count;
    this.#totalUnits = Math.max(this.sums.units[count] ?? 0, 1);
    this.#totalProse = Math.max(this.sums.proseUnits[count] ?? 0, 1);
    this.#around = surroundingsOf(page, this.sums);
    this.#classes = classSharesOf(page, this.sums);
  }

  /** How many features the last row was given: all of them. */
  get filled(): number {
    return this.#at;
  }

  /** The row of `block`; call it for every block in turn. */
  fill(block: number): Float64Array {
    this.#at = 0;
    this.#addOwn(block);
    this.#addNeighbours(block);
    this.#addPosition(block);
    this.#addContainers(block);
    this.#addRepetition(block);
    this.#addPage();
    this.#addClasses(block);
    this.#advance(block);
    return this.row;
  }

  #add(value: number): void {
    this.row[this.#at++] = value;
  }

  #addOwn(block: number): void {
    const {blocks, elements} = this.#page;
    const place = blocks.place[block] ?? 0;
    const units = blocks.units[block] ?? 0;
    const words = blocks.words[block] ?? 0;
    const perUnit = units === 0 ? 0 : 1 / units;
    const hash = blocks.hash[block] ?? 0;
    this.#add(words);
    this.#add((blocks.linkUnits[block] ?? 0) * perUnit);
    this.#add(blocks.links[block] ?? 0);
    this.#add(words === 0 ? 0 : (blocks.stops[block] ?? 0) / words);
    this.#add(words === 0 ? 0 : (blocks.commas[block] ?? 0) / words);
    this.#add((blocks.digits[block] ?? 0) * perUnit);
    this.#add((blocks.uppers[block] ?? 0) * perUnit);
    this.#add((blocks.boldUnits[block] ?? 0) * perUnit);
    this.#add(blocks.endsWithStop[block] ?? 0);
    this.#add(blocks.pictures[block] ?? 0);
    this.#add(headingLevelOf(place));
    this.#add(elements.depth[blocks.element[block] ?? 0] ?? 0);
    this.#add(words === 0 ? 0 : units / words);
    this.#add(firstKind(blocks.firstUnit[block] ?? 0));
    this.#add(this.#around.copies.get(hash) ?? 1);
    this.#add(this.#seen.has(hash) ? 1 : 0);
    this.#add(blocks.anchors[block] ?? 0);
    this.#add(words === 0 ? 0 : (blocks.dividers[block] ?? 0) / words);
    this.#add(lastKind(blocks.lastUnit[block] ?? 0));
    // The weights know tags by their numbers: fit anew where those change.
    this.#add(elements.tag[blocks.element[block] ?? 0] ?? 0);
    for (let bit = 0; bit < PLACE_NAMES.length; bit++) this.#add((place >> bit) & 1);
  }

  #addNeighbours(block: number): void {
    const {blocks} = this.#page;
    for (const step of NEIGHBOURS) {
      const other = block + step;
      const isThere = other >= 0 && other < this.#count;
      const units = isThere ? (blocks.units[other] ?? 0) : 0;
      this.#add(isThere ? (blocks.words[other] ?? 0) : -1);
      this.#add(units === 0 ? 0 : (blocks.linkUnits[other] ?? 0) / units);
      this.#add(isThere ? headingLevelOf(blocks.place[other] ?? 0) : 0);
    }
  }

  #addPosition(block: number): void {
    const {sums} = this;
    this.#add(Math.min(block - this.#lastProse, FAR));
    this.#add(Math.min(this.#around.proseAfter[block] ?? FAR, FAR));
    this.#add((sums.proseUnits[block] ?? 0) / this.#totalProse);
    this.#add((sums.units[block] ?? 0) / this.#totalUnits);
    this.#add(Math.min(block - this.#lastHeading, FAR));
    this.#add(this.#lastLevel);
    this.#add(Math.min(block - this.#lastLong, FAR));
    this.#add(Math.min(this.#around.longAfter[block] ?? FAR, FAR));
    this.#add(between(sums.fields, Math.max(0, block - 3), Math.min(this.#count, block + 4)));
    this.#addSection(block);
    const title = this.#around.titleBlock;
    this.#add(title < 0 ? -2 * FAR : Math.max(-FAR, Math.min(block - title, 2 * FAR)));
    const first = Math.max(0, block - 8);
    const end = Math.min(this.#count, block + 9);
    const units = between(sums.units, first, end);
    this.#add(units === 0 ? 0 : between(sums.proseUnits, first, end) / units);
    this.#add(units === 0 ? 0 : between(sums.linkUnits, first, end) / units);
  }

  /** From the heading before to the next one. */
  #addSection(block: number): void {
    const {sums} = this;
    const start = Math.max(this.#lastHeading, 0);
    const isHeading = headingLevelOf(this.#page.blocks.place[block] ?? 0) > 0;
    const first = isHeading ? block : start;
    const end = this.#around.sectionEnd[block] ?? this.#count;
    const units = between(sums.units, first, end);
    this.#add(end - first);
    this.#add(units / this.#totalUnits);
    this.#add(units === 0 ? 0 : between(sums.proseUnits, first, end) / units);
    this.#add(units === 0 ? 0 : between(sums.linkUnits, first, end) / units);
    this.#add(between(sums.pictures, first, end));
    this.#add(block - first);
    this.#add(this.#lastHeading < 0 ? -1 : (this.#page.blocks.words[first] ?? 0));
  }

  #addContainers(block: number): void {
    const {structure} = this;
    const {elements} = this.#page;
    const start = this.#page.blocks.element[block] ?? 0;
    const holdsMore = (elements.endBlock[start] ?? 0) - (elements.firstBlock[start] ?? 0) > 1;
    let element = holdsMore ? start : (structure.wider[start] ?? -1);
    for (let at = 0; at < CONTAINERS; at++) {
      this.#addContainer(element);
      if (element >= 0) element = structure.wider[element] ?? -1;
    }
    this.#addContainer(structure.underHalf[start] ?? -1);
    const {best, wide} = structure;
    this.#add(this.#isInside(block, best) ? 1 : 0);
    this.#add(structure.distance[start] ?? 0);
    this.#add(this.#share(best));
    this.#add(Math.max(-2 * FAR, Math.min(this.#blocksTo(best, block), 2 * FAR)));
    this.#addList(structure.list[start] ?? -1);
    this.#add(this.#isInside(block, wide) ? 1 : 0);
    this.#add(this.#share(wide));
  }

  #addContainer(element: number): void {
    if (element < 0) {
      for (let at = 0; at < CONTAINER_NAMES.length; at++) this.#add(-1);
      return;
    }
    const {sums} = this;
    const {elements} = this.#page;
    const first = elements.firstBlock[element] ?? 0;
    const end = elements.endBlock[element] ?? 0;
    const units = between(sums.units, first, end);
    const count = between(sums.blocks, first, end);
    const perUnit = units === 0 ? 0 : 1 / units;
    this.#add(units / this.#totalUnits);
    this.#add(between(sums.linkUnits, first, end) * perUnit);
    this.#add(between(sums.proseUnits, first, end) * perUnit);
    this.#add(count);
    this.#add(count === 0 ? 0 : between(sums.words, first, end) / count);
    this.#add(count === 0 ? 0 : between(sums.headings, first, end) / count);
    this.#add(between(sums.fields, first, end));
  }

  /** Blocks from an element on, below 0 before it, 0 inside. */
  #blocksTo(element: number, block: number): number {
    const {elements} = this.#page;
    const first = elements.firstBlock[element] ?? 0;
    const end = elements.endBlock[element] ?? 0;
    return block < first ? block - first : Math.max(0, block - end + 1);
  }

  /** Of the nearest list or table. */
  #addList(list: number): void {
    if (list < 0) {
      for (let at = 0; at < 3; at++) this.#add(-1);
      return;
    }
    const {sums} = this;
    const {elements} = this.#page;
    const first = elements.firstBlock[list] ?? 0;
    const end = elements.endBlock[list] ?? 0;
    const units = between(sums.units, first, end);
    this.#add(units / this.#totalUnits);
    this.#add(units === 0 ? 0 : between(sums.linkUnits, first, end) / units);
    this.#add(between(sums.words, first, end) / Math.max(between(sums.blocks, first, end), 1));
  }

  #addRepetition(block: number): void {
    const {structure, sums} = this;
    const {elements, blocks} = this.#page;
    const start = blocks.element[block] ?? 0;
    const item = structure.repeated[start] ?? -1;
    if (item < 0) {
      for (let at = 0; at < 7; at++) this.#add(-1);
    } else {
      const group = elements.parent[item] ?? 0;
      const first = elements.firstBlock[group] ?? 0;
      const end = elements.endBlock[group] ?? 0;
      const units = between(sums.units, first, end);
      const alike = structure.alike[item] ?? 1;
      this.#add(alike);
      this.#add(between(sums.words, first, end) / alike);
      this.#add(units === 0 ? 0 : between(sums.linkUnits, first, end) / units);
      this.#add(between(sums.headings, first, end) / alike);
      this.#add(units / this.#totalUnits);
      this.#add(between(sums.pictures, first, end) / alike);
      this.#add(block - (elements.firstBlock[item] ?? 0));
    }
    const path = this.#around.paths.get(elements.path[start] ?? 0);
    this.#add(path?.blocks ?? 1);
    this.#add((path?.units ?? 0) / this.#totalUnits);
    this.#add((path?.words ?? 0) / (path?.blocks ?? 1));
    const pathUnits = Math.max(path?.units ?? 0, 1);
    this.#add((path?.linkUnits ?? 0) / pathUnits);
    this.#add((path?.proseUnits ?? 0) / pathUnits);
  }

  #addPage(): void {
    const count = this.#count;
    const {sums} = this;
    this.#add((sums.proseUnits[count] ?? 0) / this.#totalUnits);
    this.#add((sums.linkUnits[count] ?? 0) / this.#totalUnits);
    this.#add((sums.stops[count] ?? 0) / Math.max(sums.words[count] ?? 0, 1));
    this.#add(this.#around.articleShare);
    this.#add(this.#around.mainShare);
  }

  #addClasses(block: number): void {
    const {elements, blocks} = this.#page;
    const {inner, outer, before} = this.#classes;
    const row = elements.classRow[blocks.element[block] ?? 0] ?? 0;
    this.#addRow(inner, row * CATEGORIES, CATEGORIES);
    this.#addRow(outer, row * OUTER, OUTER);
    this.#addRow(before, row * BEFORE, BEFORE);
  }

  #addRow(values: Float64Array, start: number, length: number): void {
    for (let at = start; at < start + length; at++) this.#add(values[at] as number);
  }

  #advance(block: number): void {
    const {blocks} = this.#page;
    this.#seen.add(blocks.hash[block] ?? 0);
    if (this.sums.isProse[block] === 1) {
      this.#lastProse = block;
      if ((blocks.words[block] ?? 0) >= LONG) this.#lastLong = block;
    }
    const level = headingLevelOf(blocks.place[block] ?? 0);
    if (level === 0 || (blocks.units[block] ?? 0) === 0) return;
    this.#lastHeading = block;
    this.#lastLevel = level;
  }

  #isInside(block: number, element: number): boolean {
    const {elements} = this.#page;
    return block >= (elements.firstBlock[element] ?? 0) && block < (elements.endBlock[element] ?? 0);
  }

  #share(element: number): number {
    const {elements} = this.#page;
    const first = elements.firstBlock[element] ?? 0;
    return between(this.sums.units, first, elements.endBlock[element] ?? 0) / this.#totalUnits;
  }
}
