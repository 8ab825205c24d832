import {
  classesOf,
  FORMATTING,
  IMPLIED_END,
  IMPLIED_END_THOROUGHLY,
  LIST_ITEM_BOUNDARY,
  SELECTS_MODE,
  SPECIAL,
} from './element-class.ts';
import {HTML, KEY_COUNT, keyOf, namespaceOf} from './element-name.ts';
import type {FormattingElements} from './formatting-elements.ts';

const NOTHING = -1;
/** No element's key; no key in any class either. */
const NO_KEY = keyOf(-1, HTML);

/** HTML 13.2.4.2: the stack of open elements; slot 0 is the `html` element. */
export class OpenElements {
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
