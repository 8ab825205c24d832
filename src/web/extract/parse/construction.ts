import {ATTRIBUTE} from '../tree/attribute.ts';
import type {SourceText} from '../tree/source-text.ts';
import {TAG} from '../tree/tag.ts';
import {DOCUMENT, NONE, type Tree} from '../tree/tree.ts';
import {DATA} from './content-model.ts';
import {BUTTON_SCOPE, classesOf, TABLE_STRUCTURE} from './element-class.ts';
import {HTML, KEY, namespaceOf, treeTagOf} from './element-name.ts';
import {FormattingElements} from './formatting-elements.ts';
import {MODE} from './modes/insertion-mode.ts';
import {OpenElements} from './open-elements.ts';

import {NOWHERE, READ_ATTRIBUTE, type TagReader} from './scan/tag-reader.ts';

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
  readonly #source: SourceText;
  readonly #maxNodes: number;

  /** With more than `maxNodes` nodes no formatting element is opened again here. */
  constructor(tree: Tree, source: SourceText, tag: TagReader, maxNodes: number) {
    this.tree = tree;
    this.#source = source;
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

  /** `start` is where the text stands in the source, in whose units it is then, or `NOWHERE`. */
  insertText(text: string, start: number): void {
    const {tree, open} = this;
    if (this.#mustFoster()) {
      this.#fosterText(text, start);
      return;
    }
    const parent = open.node;
    const last = tree.lastChild(parent);
    if (last !== NONE && tree.tag(last) === TAG.text) this.#extendText(last, text, start);
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
    else if (before !== NONE && tree.tag(before) === TAG.text) this.#extendText(before, text, start);
    else tree.insertBefore(this.#createText(text, start), table);
  }

  #createText(text: string, start: number): number {
    return start === NOWHERE
      ? this.tree.createText(text)
      : this.tree.createTextAt(start, start + text.length);
  }

  #extendText(node: number, text: string, start: number): void {
    this.tree.extendText(node, start === NOWHERE ? text : this.#source.slice(start, start + text.length));
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
