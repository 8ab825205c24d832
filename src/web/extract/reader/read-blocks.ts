// Reads the blocks of a page from its tree.

import {isHidden} from '../tree/element-facts.ts';
import {ATTRIBUTE, isInlineRole, ROLE, roleOf, TAG} from '../tree/tags.ts';
import {DOCUMENT, NONE, type Tree} from '../tree/tree.ts';
import {CLASS_CATEGORIES, ClassReader, evidenceOf} from './class-evidence.ts';
import {isTexSource} from './formulas.ts';
import {emptyPage, type PageBlocks, PLACE, placeInside, placeOf} from './page-blocks.ts';

/** FR-WF-13 drops these with their text; here they are evidence. */
const EVIDENCE: ReadonlySet<number> = new Set([TAG.nav, TAG.footer, TAG.header, TAG.aside, TAG.button]);
const FIELDS: ReadonlySet<number> = new Set([TAG.input, TAG.select, TAG.textarea]);
/** Without a copy, which trimming makes. */
const NOT_BLANK = /\S/;
const CATEGORIES = CLASS_CATEGORIES.length;

/** One pass over a document: its blocks, and the elements that say something about them. */
export function readBlocks(tree: Tree): PageBlocks {
  return new BlockReader(tree).read();
}

class BlockReader {
  readonly #tree: Tree;
  readonly #page = emptyPage();
  readonly #classes = new ClassReader();
  readonly #measure = new TextMeasure();
  /** The first row says that there is none. */
  #classRows = new Int32Array(64 * CATEGORIES);
  #classRowCount = 1;
  /** The element that is open. */
  #element = 0;
  #linkDepth = 0;
  #formulaDepth = 0;
  #boldDepth = 0;
  #firstLeaf = 0;
  #linkUnits = 0;
  #boldUnits = 0;
  #links = 0;
  #anchors = 0;
  #fields = 0;
  #pictures = 0;
  #blockElement = 0;
  #endsWithBreak = false;

  constructor(tree: Tree) {
    this.#tree = tree;
  }

  read(): PageBlocks {
    const tree = this.#tree;
    this.#open(DOCUMENT, TAG.document, -1);
    let node = tree.firstChild(DOCUMENT);
    while (node !== NONE) {
      if (this.#enter(node)) {
        const child = tree.firstChild(node);
        if (child !== NONE) {
          node = child;
          continue;
        }
        this.#leave(node);
      }
      let next = tree.nextSibling(node);
      while (next === NONE) {
        node = tree.parent(node);
        if (node === DOCUMENT || node === NONE) break;
        this.#leave(node);
        next = tree.nextSibling(node);
      }
      node = next;
    }
    this.#endBlock();
    this.#page.elements.endBlock[0] = this.#page.blocks.units.length;
    this.#page.classRows = this.#classRows.subarray(0, this.#classRowCount * CATEGORIES);
    return this.#page;
  }

  /** False for what is not entered. */
  #enter(node: number): boolean {
    const tree = this.#tree;
    const tag = tree.tag(node);
    if (tag === TAG.text) {
      this.#addText(node);
      return false;
    }
    const role = roleOf(tag);
    if (role === ROLE.dropped && !EVIDENCE.has(tag)) {
      if (isTexSource(tree, node, tag)) return this.#addFormula(node);
      this.#page.dropped.push(node);
      if (FIELDS.has(tag) && this.#tree.attribute(node, ATTRIBUTE.type) !== 'hidden') this.#fields++;
      return false;
    }
    const hasAttributes = tree.hasAttributes(node);
    const isInline = isInlineRole(role);
    const hiding = hasAttributes ? hidingOf(tree, node) : 0;
    if (isInline) {
      if (hiding !== 0) {
        this.#page.dropped.push(node);
        return false;
      }
      if (tag === TAG.math) this.#enterFormula(node);
      else if (tag === TAG.sup) this.#page.raised.push(node);
      else this.#enterInline(node, role);
      if (hasAttributes && tag !== TAG.img && tree.attribute(node, ATTRIBUTE.class) !== undefined) {
        this.#open(node, tag, this.#element);
      }
      return true;
    }
    this.#endBlock();
    this.#open(node, tag, this.#element, hiding);
    if (tag === TAG.dialog && tree.attribute(node, ATTRIBUTE.open) === undefined) {
      this.#addPlace(PLACE.hidden);
    }
    return true;
  }

  #leave(node: number): void {
    const {elements, blocks} = this.#page;
    const tag = this.#tree.tag(node);
    const role = roleOf(tag);
    if (tag === TAG.math) this.#formulaDepth--;
    else if (isInlineRole(role)) this.#leaveInline(role, node);
    else this.#endBlock();
    const element = this.#element;
    if (elements.node[element] !== node) return;
    const isInBlock = this.#page.leaves.length > this.#firstLeaf;
    elements.endBlock[element] = blocks.units.length + (isInBlock ? 1 : 0);
    this.#element = elements.parent[element] ?? 0;
  }

  /** Text in a formula may hold further ones, which are part of it. */
  #enterFormula(node: number): void {
    if (this.#formulaDepth === 0) this.#page.mathml.push(node);
    this.#formulaDepth++;
  }

  #enterInline(node: number, role: number): void {
    if (role === ROLE.link) {
      const href = this.#tree.attribute(node, ATTRIBUTE.href);
      if (href === undefined) return;
      this.#linkDepth++;
      this.#links++;
      if (href.startsWith('#')) {
        this.#anchors++;
        this.#page.fragmentLinks.push(node);
      } else {
        this.#page.links.push(node);
        this.#page.blockOfLink.push(this.#page.blocks.units.length);
      }
    } else if (role === ROLE.strong) this.#boldDepth++;
    else if (role === ROLE.image) this.#addPicture(node);
    else if (role === ROLE.lineBreak) {
      if (this.#endsWithBreak) this.#endBlock();
      this.#endsWithBreak = true;
    }
  }

  #leaveInline(role: number, node: number): void {
    if (role === ROLE.link) {
      if (this.#linkDepth > 0 && this.#tree.attribute(node, ATTRIBUTE.href) !== undefined) this.#linkDepth--;
    } else if (role === ROLE.strong) this.#boldDepth--;
  }

  /** What a reader is shown instead of the source is made of it, and stands before it. */
  #addFormula(node: number): boolean {
    const child = this.#tree.firstChild(node);
    if (child === NONE) return false;
    this.#page.formulas.push(node);
    this.#addText(child);
    return false;
  }

  #addPicture(node: number): void {
    this.#beginBlock();
    this.#page.leaves.push(node);
    this.#pictures++;
  }

  #addText(node: number): void {
    const text = this.#tree.text(node);
    const first = text.charCodeAt(0);
    if (first <= 0x20 && (text.length === 1 || !NOT_BLANK.test(text))) return;
    this.#beginBlock();
    const units = this.#measure.add(text);
    this.#page.leaves.push(node);
    this.#endsWithBreak = false;
    if (this.#linkDepth > 0) this.#linkUnits += units;
    if (this.#boldDepth > 0) this.#boldUnits += units;
  }

  #beginBlock(): void {
    if (this.#page.leaves.length === this.#firstLeaf) this.#blockElement = this.#element;
  }

  #endBlock(): void {
    const {blocks, elements, leaves} = this.#page;
    this.#endsWithBreak = false;
    if (leaves.length > this.#firstLeaf) {
      const measure = this.#measure;
      blocks.firstLeaf.push(this.#firstLeaf);
      blocks.element.push(this.#blockElement);
      blocks.place.push((elements.place[this.#blockElement] ?? 0) | (this.#linkDepth > 0 ? PLACE.link : 0));
      blocks.units.push(measure.units);
      blocks.linkUnits.push(this.#linkUnits);
      blocks.boldUnits.push(this.#boldUnits);
      blocks.words.push(measure.words);
      blocks.links.push(this.#links);
      blocks.anchors.push(this.#anchors);
      blocks.fields.push(this.#fields);
      this.#fields = 0;
      blocks.pictures.push(this.#pictures);
      blocks.stops.push(measure.stops);
      blocks.commas.push(measure.commas);
      blocks.dividers.push(measure.dividers);
      blocks.lastUnit.push(measure.lastUnit);
      blocks.digits.push(measure.digits);
      blocks.uppers.push(measure.uppers);
      blocks.hash.push(measure.hash);
      blocks.firstUnit.push(measure.firstUnit);
      blocks.endsWithStop.push(measure.endsWithStop ? 1 : 0);
      this.#firstLeaf = leaves.length;
      measure.clear();
    }
    this.#linkUnits = 0;
    this.#boldUnits = 0;
    this.#links = this.#linkDepth > 0 ? 1 : 0;
    this.#anchors = 0;
    this.#pictures = 0;
  }

  #addPlace(place: number): void {
    const {elements} = this.#page;
    elements.place[this.#element] = (elements.place[this.#element] ?? 0) | place;
  }

  #open(node: number, tag: number, parent: number, hiding = 0): void {
    const {elements, blocks} = this.#page;
    const tree = this.#tree;
    const element = elements.node.length;
    const className = tree.attribute(node, ATTRIBUTE.class) ?? '';
    const id = tree.attribute(node, ATTRIBUTE.id) ?? '';
    const classes = className === '' ? undefined : this.#classes.read(className);
    const own = Math.imul((classes?.signature ?? 0) ^ Math.imul(tag + 1, 0x9e3779b1), 0x85ebca6b) | 0;
    const above = parent < 0 ? 0 : (elements.path[parent] ?? 0);
    const itemprop = tree.attribute(node, ATTRIBUTE.itemprop);
    const role = tree.attribute(node, ATTRIBUTE.role);
    let place = placeInside(parent < 0 ? 0 : (elements.place[parent] ?? 0), placeOf(tag, role) | hiding);
    if (itemprop === 'articleBody') place |= PLACE.articleBody;
    elements.node.push(node);
    elements.tag.push(tag);
    elements.parent.push(parent);
    elements.depth.push(parent < 0 ? 0 : (elements.depth[parent] ?? 0) + 1);
    elements.place.push(place);
    elements.own.push(own);
    elements.path.push((Math.imul(above, 0x01000193) ^ own) | 0);
    elements.firstBlock.push(blocks.units.length);
    elements.endBlock.push(0);
    elements.classRow.push(parent < 0 ? 0 : (elements.classRow[parent] ?? 0));
    this.#element = element;
    if (classes) this.#addCategories(classes.categories);
    // Hardly any comes twice.
    if (id !== '') this.#addCategories(evidenceOf(id).categories);
    if (itemprop !== undefined) this.#addCategories(evidenceOf(itemprop).categories);
  }

  /** `html` and `body` carry what a whole site has. */
  #addCategories(categories: readonly number[]): void {
    const {elements} = this.#page;
    const element = this.#element;
    if (categories.length === 0 || element === 0 || elements.tag[element] === TAG.body) return;
    if (elements.tag[element] === TAG.html) return;
    let row = elements.classRow[element] ?? 0;
    if (row === (elements.classRow[elements.parent[element] ?? 0] ?? 0)) {
      row = this.#copyClassRow(row);
      elements.classRow[element] = row;
    }
    for (const category of categories) this.#classRows[row * CATEGORIES + category] = element;
  }

  #copyClassRow(from: number): number {
    const row = this.#classRowCount++;
    if ((row + 1) * CATEGORIES > this.#classRows.length) {
      const longer = new Int32Array(2 * this.#classRows.length);
      longer.set(this.#classRows);
      this.#classRows = longer;
    }
    this.#classRows.copyWithin(row * CATEGORIES, from * CATEGORIES, (from + 1) * CATEGORIES);
    return row;
  }
}

function hidingOf(tree: Tree, node: number): number {
  if (isHidden(tree, node)) return PLACE.hidden;
  const aria = tree.attribute(node, ATTRIBUTE['aria-hidden']);
  return aria?.trim().toLowerCase() === 'true' ? PLACE.ariaHidden : 0;
}

const BLANK = 1;
const DIGIT = 2;
const UPPER = 3;
const LOWER = 4;
const STOP = 5;
const COMMA = 6;
const OTHER = 7;
const IDEOGRAPH = 8;
const DIVIDER = 9;
const BULLET = 0x2022;

const CLASSES = new Uint8Array(0x100).fill(LOWER, 0xc0).fill(OTHER, 0, 0xc0);
CLASSES.fill(BLANK, 0, 0x21).fill(DIGIT, 0x30, 0x3a).fill(UPPER, 0x41, 0x5b).fill(LOWER, 0x61, 0x7b);
CLASSES.fill(UPPER, 0xc0, 0xdf);
CLASSES[0xa0] = BLANK;
for (const sign of '.!?:;') CLASSES[sign.charCodeAt(0)] = STOP;
CLASSES[0x2c] = COMMA;
for (const sign of '|/>·»') CLASSES[sign.charCodeAt(0)] = DIVIDER;

/** Signs that end a clause outside Latin scripts: Arabic, Devanagari and the wide forms of East Asia. */
const WIDE_STOPS: ReadonlySet<number> = new Set(Array.from('…。！？：；؟۔।', sign => sign.charCodeAt(0)));
const WIDE_COMMAS: ReadonlySet<number> = new Set(Array.from('，、،', sign => sign.charCodeAt(0)));

function classOf(unit: number): number {
  if (unit < 0x100) return CLASSES[unit] ?? OTHER;
  if (unit < 0x2000) return WIDE_STOPS.has(unit) ? STOP : WIDE_COMMAS.has(unit) ? COMMA : LOWER;
  if (unit >= 0x3040 && unit <= 0x9fff) return IDEOGRAPH;
  if (WIDE_STOPS.has(unit)) return STOP;
  if (WIDE_COMMAS.has(unit)) return COMMA;
  if (unit === 0x3000 || unit <= 0x200f || unit === 0x2028) return BLANK;
  return unit >= 0x3400 ? LOWER : OTHER;
}

/** Counts of a text that comes in pieces. */
class TextMeasure {
  /** UTF-16 units that are not blank. */
  units = 0;
  /** Runs of letters between blanks; two ideographs are one. */
  words = 0;
  digits = 0;
  uppers = 0;
  stops = 0;
  commas = 0;
  /** Signs that divide entries of one line. */
  dividers = 0;
  /** Of the letters and digits: equal texts have equal ones. */
  hash = 0;
  endsWithStop = false;
  firstUnit = 0;
  lastUnit = 0;

  clear(): void {
    this.units = 0;
    this.words = 0;
    this.digits = 0;
    this.uppers = 0;
    this.stops = 0;
    this.commas = 0;
    this.dividers = 0;
    this.hash = 0;
    this.endsWithStop = false;
    this.firstUnit = 0;
    this.lastUnit = 0;
  }

  /** Returns the number of units that are not blank. */
  add(text: string): number {
    let {words, digits, uppers, stops, commas, dividers, hash} = this;
    let isInWord = false;
    let blanks = 0;
    let first = -1;
    let last = -1;
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      const kind = unit < 0x100 ? CLASSES[unit] : classOf(unit);
      if (kind === BLANK) {
        isInWord = false;
        blanks++;
        continue;
      }
      if (first < 0) first = at;
      last = at;
      if (kind === LOWER || kind === UPPER || kind === DIGIT) {
        if (!isInWord) words++;
        isInWord = true;
        if (kind === DIGIT) digits++;
        else if (kind === UPPER) uppers++;
        hash = (Math.imul(hash, 31) + unit) | 0;
      } else if (kind === IDEOGRAPH) {
        words += 0.5;
        isInWord = false;
        hash = (Math.imul(hash, 31) + unit) | 0;
      } else if (kind === STOP) stops++;
      else if (kind === COMMA) commas++;
      else if (kind === DIVIDER || unit === BULLET) dividers++;
    }
    this.words = words;
    this.digits = digits;
    this.uppers = uppers;
    this.stops = stops;
    this.commas = commas;
    this.dividers = dividers;
    this.hash = hash;
    if (last < 0) return 0;
    if (this.units === 0) this.firstUnit = text.charCodeAt(first);
    this.lastUnit = text.charCodeAt(last);
    this.endsWithStop = classOf(this.lastUnit) === STOP;
    this.units += text.length - blanks;
    return text.length - blanks;
  }
}
