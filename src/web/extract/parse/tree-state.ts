// What tree construction remembers: open elements, formatting elements, the insertion mode.

import {ATTRIBUTE, TAG} from '../tree/tags.ts';
import {DOCUMENT, NONE, type Tree} from '../tree/tree.ts';
import {
  BUTTON_SCOPE,
  classesOf,
  FORMATTING,
  HTML,
  IMPLIED_END,
  IMPLIED_END_THOROUGHLY,
  KEY,
  KEY_COUNT,
  keyOf,
  LIST_ITEM_BOUNDARY,
  namespaceOf,
  SELECTS_MODE,
  SPECIAL,
  TABLE_STRUCTURE,
  treeTagOf,
} from './element-names.ts';
import {NOWHERE, READ_ATTRIBUTE, type TagReader} from './tag-reader.ts';

const KEPT_ATTRIBUTES = Object.keys(ATTRIBUTE).length;

/** HTML 13.2.6.1: the names that attributes of foreign elements have in the tree. */
const FOREIGN_ATTRIBUTES = new Map<number, number>([
  [READ_ATTRIBUTE['xlink:href'], ATTRIBUTE.href],
  [READ_ATTRIBUTE['xlink:role'], ATTRIBUTE.role],
  [READ_ATTRIBUTE['xml:lang'], ATTRIBUTE.lang],
]);

/** The state of tree construction (HTML 13.2.4) and the steps that all insertion modes share. */
export class Construction {
  readonly tree: Tree;
  readonly formatting = new FormattingElements();
  readonly open = new OpenElements(this.formatting);
  /** The start or end tag at work. */
  readonly tag: TagReader;
  mode: number = MODE.initial;
  headNode = NONE;
  formNode = NONE;
  isQuirks = false;
  /** Set while a line feed, if it comes next, is not text. */
  skipsLineFeed = false;
  /** Set while what may not stand in a table goes before it. */
  fosters = false;
  /** How the source is read on after the start tag at work. */
  contentModel = DATA;
  /** Set once the document needs a rule that is not here; the tree is of no use then. */
  isBeyond = false;
  readonly #maxNodes: number;

  /** With more than `maxNodes` nodes no formatting element is opened again here. */
  constructor(tree: Tree, tag: TagReader, maxNodes: number) {
    this.tree = tree;
    this.tag = tag;
    this.#maxNodes = maxNodes;
  }

  /** "Insert an HTML element" or "a foreign element" for the tag at work. */
  insert(key: number): number {
    const node = this.append(key);
    this.open.push(key, node);
    return node;
  }

  /** The same for an element that is closed at once. */
  append(key: number): number {
    const node = this.#createElement(key);
    this.#place(node);
    return node;
  }

  /** Inserts an element that has no tag in the source. */
  insertImplied(key: number): number {
    const node = this.tree.createElement(treeTagOf(key));
    if (this.open.depth === 0) this.tree.append(DOCUMENT, node);
    else this.#place(node);
    this.open.push(key, node);
    return node;
  }

  /** The `html` element of the tag at work. */
  insertRoot(): void {
    const node = this.#createElement(KEY.html);
    this.tree.append(DOCUMENT, node);
    this.open.push(KEY.html, node);
  }

  /** Opens the element of the tag at work, whose text is read in its own way up to its end tag. */
  insertRawText(key: number, contentModel: number): void {
    this.insert(key);
    this.contentModel = contentModel;
  }

  /** `start` is where the text stands in the source, or `NOWHERE`. */
  insertText(text: string, start: number): void {
    const {tree, open} = this;
    if (this.#mustFoster()) {
      this.#fosterText(text, start);
      return;
    }
    const parent = open.node;
    const last = tree.lastChild(parent);
    if (last !== NONE && tree.tag(last) === TAG.text) tree.extendText(last, text);
    else tree.append(parent, this.#createText(text, start));
  }

  /** Gives an element the attributes of the tag at work that it lacks. */
  adoptAttributes(node: number, namespace: number): void {
    const {attributeCount, attributeNames, valueStarts, valueEnds, decodedValues} = this.tag;
    for (let index = 0; index < attributeCount; index++) {
      const read = attributeNames[index] ?? 0;
      const name =
        read < KEPT_ATTRIBUTES ? read : namespace === HTML ? undefined : FOREIGN_ATTRIBUTES.get(read);
      if (name === undefined) continue;
      const start = valueStarts[index] ?? 0;
      if (start === NOWHERE) this.tree.addAttribute(node, name, decodedValues[index] ?? '');
      else this.tree.addAttributeAt(node, name, start, valueEnds[index] ?? 0);
    }
  }

  /** "Close a p element", where one is in button scope. */
  closeParagraph(): void {
    if (!this.open.hasInScope(KEY.p, BUTTON_SCOPE)) return;
    this.open.popImpliedEndsBut(KEY.p);
    this.open.popThrough(KEY.p);
  }

  /** "Reconstruct the active formatting elements". */
  reconstruct(): void {
    const {formatting, open, tree} = this;
    if (!formatting.hasUnopened) return;
    if (formatting.mayOverflow || tree.size > this.#maxNodes) {
      this.isBeyond = true;
      return;
    }
    for (let entry = formatting.oldestUnopened(); entry < formatting.size; entry++) {
      const copy = tree.copyElement(formatting.nodeAt(entry));
      this.#place(copy);
      open.push(formatting.keyAt(entry), copy);
      formatting.reopen(entry, copy);
    }
  }

  /** "Reset the insertion mode appropriately". */
  resetMode(): void {
    switch (this.open.modeKey()) {
      case KEY.select:
        this.mode = this.open.count(KEY.table) > 0 ? MODE.inSelectInTable : MODE.inSelect;
        break;
      case KEY.td:
      case KEY.th:
        this.mode = MODE.inCell;
        break;
      case KEY.tr:
        this.mode = MODE.inRow;
        break;
      case KEY.tbody:
      case KEY.thead:
      case KEY.tfoot:
        this.mode = MODE.inTableBody;
        break;
      case KEY.caption:
        this.mode = MODE.inCaption;
        break;
      case KEY.colgroup:
        this.mode = MODE.inColumnGroup;
        break;
      case KEY.table:
        this.mode = MODE.inTable;
        break;
      default:
        this.mode = MODE.inBody;
    }
  }

  /** Puts an element where the table begins that it may not stand in. */
  fosterElement(node: number): void {
    const {tree, open} = this;
    const slot = open.indexOf(KEY.table);
    const table = open.nodeAt(slot);
    if (slot !== -1 && tree.parent(table) !== NONE) tree.insertBefore(node, table);
    else tree.append(open.nodeAt(Math.max(slot - 1, 0)), node);
  }

  #fosterText(text: string, start: number): void {
    const {tree, open} = this;
    const table = open.nodeAt(open.indexOf(KEY.table));
    const before = tree.previousSibling(table);
    // Only a table that was moved has no parent; that is not for here.
    if (tree.parent(table) === NONE) this.isBeyond = true;
    else if (before !== NONE && tree.tag(before) === TAG.text) tree.extendText(before, text);
    else tree.insertBefore(this.#createText(text, start), table);
  }

  #createText(text: string, start: number): number {
    return start === NOWHERE
      ? this.tree.createText(text)
      : this.tree.createTextAt(start, start + text.length);
  }

  #mustFoster(): boolean {
    return this.fosters && (classesOf(this.open.key) & TABLE_STRUCTURE) !== 0;
  }

  #place(node: number): void {
    if (this.#mustFoster()) this.fosterElement(node);
    else this.tree.append(this.open.node, node);
  }

  #createElement(key: number): number {
    const node = this.tree.createElement(treeTagOf(key));
    if (this.tag.attributeCount > 0) this.adoptAttributes(node, namespaceOf(key));
    return node;
  }
}

const NOTHING = -1;
/** No element's key; no key in any class either. */
const NO_KEY = keyOf(-1, HTML);

/** HTML 13.2.4.2: the stack of open elements; slot 0 is the `html` element. */
class OpenElements {
  readonly #formatting: FormattingElements;
  readonly #keys: number[] = [];
  readonly #nodes: number[] = [];
  /** How many elements of a key are open: most questions about scopes are answered by a zero. */
  readonly #counts = new Int32Array(KEY_COUNT);
  /** The slots looked at, a measure of the work done. */
  steps = 0;

  constructor(formatting: FormattingElements) {
    this.#formatting = formatting;
  }

  get depth(): number {
    return this.#keys.length;
  }

  /** The key and the node of the current element. */
  get key(): number {
    return this.#keys[this.#keys.length - 1] ?? NO_KEY;
  }

  get node(): number {
    return this.#nodes[this.#nodes.length - 1] ?? 0;
  }

  get isForeign(): boolean {
    return namespaceOf(this.key) !== HTML;
  }

  keyAt(slot: number): number {
    return this.#keys[slot] ?? NO_KEY;
  }

  nodeAt(slot: number): number {
    return this.#nodes[slot] ?? 0;
  }

  push(key: number, node: number): void {
    this.#keys.push(key);
    this.#nodes.push(node);
    if (key < KEY_COUNT) this.#counts[key] = this.count(key) + 1;
  }

  pop(): void {
    const key = this.#keys.pop() ?? NO_KEY;
    const node = this.#nodes.pop() ?? 0;
    this.#forget(key, node);
  }

  /** Pops elements until `depth` are left. */
  shortenTo(depth: number): void {
    while (this.#keys.length > depth) this.pop();
  }

  removeAt(slot: number): void {
    this.steps += this.#keys.length - slot;
    this.#forget(this.keyAt(slot), this.nodeAt(slot));
    this.#keys.splice(slot, 1);
    this.#nodes.splice(slot, 1);
  }

  insertAt(slot: number, key: number, node: number): void {
    this.steps += this.#keys.length - slot;
    this.#keys.splice(slot, 0, key);
    this.#nodes.splice(slot, 0, node);
    if (key < KEY_COUNT) this.#counts[key] = this.count(key) + 1;
  }

  replaceAt(slot: number, node: number): void {
    this.#nodes[slot] = node;
  }

  /** How many elements of a named key are open. */
  count(key: number): number {
    return this.#counts[key] ?? 0;
  }

  /** The topmost slot of a key, or -1. */
  indexOf(key: number): number {
    if (key < KEY_COUNT && this.count(key) === 0) return NOTHING;
    const slot = this.#keys.lastIndexOf(key);
    this.steps += this.#keys.length - slot;
    return slot;
  }

  indexOfNode(node: number): number {
    const slot = this.#nodes.lastIndexOf(node);
    this.steps += this.#nodes.length - slot;
    return slot;
  }

  /** Whether an HTML element is in a scope: open, and no element of the class `boundary` above it. */
  hasInScope(key: number, boundary: number): boolean {
    return this.count(key) > 0 && this.#topmost(key, 0, boundary) !== NOTHING;
  }

  /** The topmost slot of an element of the classes in scope, or -1. */
  indexOfClassInScope(classes: number, boundary: number): number {
    return this.#topmost(NO_KEY, classes, boundary);
  }

  /** The topmost slot of `key` with no special element above it, or -1. */
  indexBelowOrdinary(key: number): number {
    if (key < KEY_COUNT && this.count(key) === 0) return NOTHING;
    return this.#topmost(key, 0, SPECIAL);
  }

  /** The topmost slot of a list item of one of the keys that a new item would close, or -1. */
  indexOfListItem(key: number, otherKey: number): number {
    if (this.count(key) === 0 && this.count(otherKey) === 0) return NOTHING;
    for (let slot = this.#keys.length - 1; slot >= 0; slot--) {
      this.steps++;
      const open = this.keyAt(slot);
      if (open === key || open === otherKey) return slot;
      if ((classesOf(open) & LIST_ITEM_BOUNDARY) !== 0) return NOTHING;
    }
    return NOTHING;
  }

  /** The lowest slot above `slot` with an element of the classes, or -1. */
  lowestAbove(slot: number, classes: number): number {
    for (let above = slot + 1; above < this.#keys.length; above++) {
      this.steps++;
      if ((classesOf(this.keyAt(above)) & classes) !== 0) return above;
    }
    return NOTHING;
  }

  /** The topmost HTML element's slot. */
  indexOfHtml(): number {
    let slot = this.#keys.length - 1;
    while (slot >= 0 && namespaceOf(this.keyAt(slot)) !== HTML) slot--;
    this.steps += this.#keys.length - slot;
    return slot;
  }

  /** The key of the topmost element that selects an insertion mode. */
  modeKey(): number {
    const slot = this.#topmost(NO_KEY, SELECTS_MODE, 0);
    return this.keyAt(slot);
  }

  /** "Clear the stack back to a table context", "… table body context", "… table row context". */
  clearBackTo(key: number, classes: number): void {
    while (this.#keys.length > 1 && this.key !== key && (classesOf(this.key) & classes) === 0) this.pop();
  }

  popImpliedEnds(): void {
    while ((classesOf(this.key) & IMPLIED_END) !== 0) this.pop();
  }

  popImpliedEndsBut(key: number): void {
    while (this.key !== key && (classesOf(this.key) & IMPLIED_END_THOROUGHLY) !== 0) this.pop();
  }

  /** Pops up to and including the topmost element of a key. */
  popThrough(key: number): void {
    this.shortenTo(Math.max(this.#keys.lastIndexOf(key), 0));
  }

  #topmost(key: number, classes: number, boundary: number): number {
    const keys = this.#keys;
    for (let slot = keys.length - 1; slot >= 0; slot--) {
      this.steps++;
      const open = keys[slot] ?? NO_KEY;
      const openClasses = classesOf(open);
      if (open === key || (openClasses & classes) !== 0) return slot;
      if ((openClasses & boundary) !== 0) return NOTHING;
    }
    return NOTHING;
  }

  #forget(key: number, node: number): void {
    if (key >= KEY_COUNT || key < 0) return;
    this.#counts[key] = this.count(key) - 1;
    if ((classesOf(key) & FORMATTING) !== 0) this.#formatting.noteClosed(node);
  }
}

/** Stands in the list where an element began that formatting does not reach into. */
const MARKER = -1;
/** HTML 13.2.4.3, "Noah's Ark clause": at most three equal entries. */
const ARK_CAPACITY = 3;
/** So many entries after a marker are only counted, not compared. */
const MAX_COUNTED = 16;

/** HTML 13.2.4.3: the list of active formatting elements, oldest first. */
class FormattingElements {
  readonly #keys: number[] = [];
  readonly #nodes: number[] = [];
  /** Whether an entry is still on the stack of open elements. */
  readonly #isOpen: boolean[] = [];
  /**
   * The list keeps what Noah's Ark would have dropped. That changes nothing as long as elements end in the order in
   * which they began; where they do not, this tells that the list may hold too much.
   */
  mayOverflow = false;
  /** The entries looked at, a measure of the work done. */
  steps = 0;

  get size(): number {
    return this.#keys.length;
  }

  /** Whether the newest entry is neither a marker nor open, so that there is something to reconstruct. */
  get hasUnopened(): boolean {
    const newest = this.#keys.length - 1;
    return newest >= 0 && this.#keys[newest] !== MARKER && this.#isOpen[newest] === false;
  }

  keyAt(entry: number): number {
    return this.#keys[entry] ?? MARKER;
  }

  nodeAt(entry: number): number {
    return this.#nodes[entry] ?? 0;
  }

  isOpen(entry: number): boolean {
    return this.#isOpen[entry] ?? false;
  }

  push(key: number, node: number): void {
    let equal = 0;
    let entry = this.#keys.length - 1;
    for (; entry >= 0 && this.#keys[entry] !== MARKER && this.#keys.length - entry <= MAX_COUNTED; entry--) {
      if (this.#keys[entry] === key) equal++;
    }
    this.mayOverflow ||= equal >= ARK_CAPACITY || this.#keys.length - entry > MAX_COUNTED;
    this.#keys.push(key);
    this.#nodes.push(node);
    this.#isOpen.push(true);
  }

  insertMarker(): void {
    this.#keys.push(MARKER);
    this.#nodes.push(0);
    this.#isOpen.push(true);
  }

  clearToMarker(): void {
    this.#nodes.length = this.#isOpen.length = Math.max(this.#keys.lastIndexOf(MARKER), 0);
    this.#keys.length = this.#nodes.length;
  }

  /** The newest entry of a name after the last marker, or -1. */
  newestOf(key: number): number {
    for (let entry = this.#keys.length - 1; entry >= 0; entry--) {
      this.steps++;
      if (this.#keys[entry] === key) return entry;
      if (this.#keys[entry] === MARKER) return -1;
    }
    return -1;
  }

  /** The entry of an element, or -1. */
  indexOf(node: number): number {
    const entry = this.#nodes.lastIndexOf(node);
    this.steps += this.#nodes.length - Math.max(entry, 0);
    return entry;
  }

  /** The oldest of the entries at the end of the list that are not open. */
  oldestUnopened(): number {
    let entry = this.#keys.length;
    while (entry > 0 && this.#keys[entry - 1] !== MARKER && this.#isOpen[entry - 1] === false) entry--;
    this.steps += this.#keys.length - entry;
    return entry;
  }

  insertAfter(entry: number, key: number, node: number): void {
    this.#keys.splice(entry + 1, 0, key);
    this.#nodes.splice(entry + 1, 0, node);
    this.#isOpen.splice(entry + 1, 0, true);
  }

  remove(entry: number): void {
    if (entry === this.#keys.length - 1) {
      this.#keys.pop();
      this.#nodes.pop();
      this.#isOpen.pop();
      return;
    }
    this.steps += this.#keys.length - entry;
    this.#keys.splice(entry, 1);
    this.#nodes.splice(entry, 1);
    this.#isOpen.splice(entry, 1);
  }

  /** Puts another element in the place of an entry's. */
  reopen(entry: number, node: number): void {
    this.#nodes[entry] = node;
    this.#isOpen[entry] = true;
  }

  /** Notes that an element has left the stack. */
  noteClosed(node: number): void {
    const entry = this.indexOf(node);
    if (entry !== -1) this.#isOpen[entry] = false;
  }
}

// biome-ignore format: a list
/** HTML 13.2.4.1: the insertion modes, but those of frames and templates, in their usual order. */
export const MODE = Object.freeze({
  initial: 0, beforeHtml: 1, beforeHead: 2, inHead: 3, afterHead: 4, inBody: 5, inTable: 6, inCaption: 7,
  inColumnGroup: 8, inTableBody: 9, inRow: 10, inCell: 11, inSelect: 12, inSelectInTable: 13, afterBody: 14,
  afterAfterBody: 15,
});

/** How what follows a start tag is read (HTML 13.2.5): as markup, or as text up to the end tag of the same name. */
export const DATA = 0;
/** Text with character references. */
export const RCDATA = 1;
/** Text as it is. */
export const RAWTEXT = 2;
/** Text in which comments may hide end tags. */
export const SCRIPT_DATA = 3;
