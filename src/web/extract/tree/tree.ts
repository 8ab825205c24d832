// Parsed HTML in columns of numbers.

import {TAG} from './tags.ts';

/** The depth below which Blink lets elements become siblings (`kMaximumHTMLParserDOMTreeDepth`). */
const MAX_DEPTH = 512;

/** No node: what a link holds that leads nowhere. */
export const NONE = 0;

/** The start of the first text that is not in the source; those of further ones are below. */
const OWNED = -1;

/** The document node of every tree. */
export const DOCUMENT = 1;

/**
 * A parsed document as parallel arrays: a node is an index into them. No objects per node, no recursion,
 * and nothing here knows which parser filled it.
 */
export class Tree {
  #size = 2;
  #tags = new Uint8Array();
  #depths = new Uint16Array();
  #parents = new Int32Array();
  #firsts = new Int32Array();
  #lasts = new Int32Array();
  #nexts = new Int32Array();
  #previous = new Int32Array();
  /** Of a text its place, of an element the range of its attributes. */
  #starts = new Int32Array();
  #ends = new Int32Array();
  #attributeCount = 0;
  #attributeNames = new Uint8Array();
  #valueStarts = new Int32Array();
  #valueEnds = new Int32Array();
  /** Where places lie; one of `OWNED` or less is none, but names a text that is no part of it. */
  readonly #source: string;
  readonly #owned: string[] = [];

  constructor(expectedNodes: number, source = '') {
    this.#source = source;
    const capacity = Math.max(expectedNodes, 64);
    this.#makeRoom(capacity);
    this.#makeRoomForAttributes(capacity >> 1);
    this.#tags[DOCUMENT] = TAG.document;
  }

  /** One more than the highest node. */
  get size(): number {
    return this.#size;
  }

  tag(node: number): number {
    return this.#tags[node] ?? TAG.none;
  }

  parent(node: number): number {
    return this.#parents[node] ?? NONE;
  }

  firstChild(node: number): number {
    return this.#firsts[node] ?? NONE;
  }

  lastChild(node: number): number {
    return this.#lasts[node] ?? NONE;
  }

  nextSibling(node: number): number {
    return this.#nexts[node] ?? NONE;
  }

  previousSibling(node: number): number {
    return this.#previous[node] ?? NONE;
  }

  /** The text of a text node. */
  text(node: number): string {
    const start = this.#starts[node] ?? 0;
    if (start <= OWNED) return this.#owned[OWNED - start] ?? '';
    if (this.#tags[node] !== TAG.text) return '';
    const text = this.#source.slice(start, this.#ends[node] ?? 0);
    this.#starts[node] = OWNED - (this.#owned.push(text) - 1);
    return text;
  }

  /** The value of an attribute (`ATTRIBUTE.…`), or `undefined` where the element does not have it. */
  attribute(node: number, name: number): string | undefined {
    const end = this.#ends[node] ?? 0;
    let index = this.#starts[node] ?? 0;
    if (index >= end || this.#tags[node] === TAG.text) return undefined;
    while (this.#attributeNames[index] !== name) if (++index === end) return undefined;
    const start = this.#valueStarts[index] ?? 0;
    if (start <= OWNED) return this.#owned[OWNED - start] ?? '';
    const value = this.#source.slice(start, this.#valueEnds[index] ?? 0);
    this.#valueStarts[index] = OWNED - (this.#owned.push(value) - 1);
    return value;
  }

  hasAttributes(node: number): boolean {
    return (this.#ends[node] ?? 0) > (this.#starts[node] ?? 0) && this.#tags[node] !== TAG.text;
  }

  /** The node after `node` in tree order within `root`, or `NONE` at the end. */
  following(node: number, root: number): number {
    return this.firstChild(node) || this.followingSkipped(node, root);
  }

  /** The same, leaving out what is inside `node`. */
  followingSkipped(node: number, root: number): number {
    for (let current = node; current !== root && current !== NONE; current = this.parent(current)) {
      const next = this.nextSibling(current);
      if (next !== NONE) return next;
    }
    return NONE;
  }

  /** All elements of a tag that were ever made, also those that the rules of parsing took out of the tree. */
  elements(tag: number): readonly number[] {
    const found: number[] = [];
    for (let node = this.#tags.indexOf(tag); node >= 0 && node < this.#size; ) {
      found.push(node);
      node = this.#tags.indexOf(tag, node + 1);
    }
    return found;
  }

  createElement(tag: number): number {
    return this.#create(tag, this.#attributeCount, this.#attributeCount);
  }

  /** A new element with the tag and the attributes of another. */
  copyElement(original: number): number {
    const copy = this.createElement(this.tag(original));
    this.#copyAttributes(original);
    this.#ends[copy] = this.#attributeCount;
    return copy;
  }

  createText(text: string): number {
    return this.#create(TAG.text, this.#own(text), 0);
  }

  /** A text that stands in the source as it is. It is cut out when somebody reads it. */
  createTextAt(start: number, end: number): number {
    return this.#create(TAG.text, start, end);
  }

  extendText(node: number, text: string): void {
    const start = this.#starts[node] ?? 0;
    if (start <= OWNED) this.#owned[OWNED - start] += text;
    else this.#starts[node] = this.#own(this.text(node) + text);
  }

  /** Adds an attribute; the first value of a name counts. */
  addAttribute(node: number, name: number, value: string): void {
    if (this.#findAttribute(node, name) === -1) this.#addAttribute(node, name, this.#own(value), 0);
  }

  /** The same for a value that stands in the source as it is. */
  addAttributeAt(node: number, name: number, start: number, end: number): void {
    if (this.#findAttribute(node, name) === -1) this.#addAttribute(node, name, start, end);
  }

  #addAttribute(node: number, name: number, valueStart: number, valueEnd: number): void {
    if (this.#ends[node] !== this.#attributeCount) {
      // Attributes that arrive late (a second <body> tag): the range moves to the end.
      const start = this.#attributeCount;
      this.#copyAttributes(node);
      this.#starts[node] = start;
    }
    this.#pushAttribute(name, valueStart, valueEnd);
    this.#ends[node] = this.#attributeCount;
  }

  #copyAttributes(node: number): void {
    const end = this.#ends[node] ?? 0;
    for (let index = this.#starts[node] ?? 0; index < end; index++) {
      const value = this.#valueStarts[index] ?? 0;
      this.#pushAttribute(this.#attributeNames[index] ?? 0, value, this.#valueEnds[index] ?? 0);
    }
  }

  #pushAttribute(name: number, valueStart: number, valueEnd: number): void {
    const index = this.#attributeCount++;
    if (index === this.#attributeNames.length) {
      this.#makeRoomForAttributes(2 * index);
    }
    this.#attributeNames[index] = name;
    this.#valueStarts[index] = valueStart;
    this.#valueEnds[index] = valueEnd;
  }

  #findAttribute(node: number, name: number): number {
    if (this.tag(node) === TAG.text) return -1;
    const end = this.#ends[node] ?? 0;
    for (let index = this.#starts[node] ?? 0; index < end; index++) {
      if (this.#attributeNames[index] === name) return index;
    }
    return -1;
  }

  /** The start of a text that is no part of the source. */
  #own(text: string): number {
    return OWNED - (this.#owned.push(text) - 1);
  }

  /** D1: an element that would be deeper than 512 becomes a sibling of its parent. */
  append(parent: number, child: number): void {
    const target = this.#capped(parent, child);
    const last = this.lastChild(target);
    this.#parents[child] = target;
    this.#previous[child] = last;
    this.#nexts[child] = NONE;
    if (last === NONE) this.#firsts[target] = child;
    else this.#nexts[last] = child;
    this.#lasts[target] = child;
    this.#depths[child] = (this.#depths[target] ?? 0) + 1;
  }

  insertBefore(child: number, reference: number): void {
    const parent = this.parent(reference);
    const before = this.previousSibling(reference);
    this.#parents[child] = parent;
    this.#previous[child] = before;
    this.#nexts[child] = reference;
    this.#previous[reference] = child;
    if (before === NONE) this.#firsts[parent] = child;
    else this.#nexts[before] = child;
    this.#depths[child] = this.#depths[reference] ?? 0;
  }

  detach(node: number): void {
    const parent = this.parent(node);
    if (parent === NONE) return;
    const before = this.previousSibling(node);
    const after = this.nextSibling(node);
    if (before === NONE) this.#firsts[parent] = after;
    else this.#nexts[before] = after;
    if (after === NONE) this.#lasts[parent] = before;
    else this.#previous[after] = before;
    this.#parents[node] = NONE;
    this.#previous[node] = NONE;
    this.#nexts[node] = NONE;
  }

  #capped(parent: number, child: number): number {
    const tooDeep = (this.#depths[parent] ?? 0) >= MAX_DEPTH && this.tag(child) !== TAG.text;
    return tooDeep ? this.parent(parent) || parent : parent;
  }

  #create(tag: number, start: number, end: number): number {
    const node = this.#size++;
    if (node === this.#tags.length) this.#makeRoom(2 * node);
    this.#tags[node] = tag;
    this.#starts[node] = start;
    this.#ends[node] = end;
    return node;
  }

  #makeRoom(capacity: number): void {
    this.#parents = moved(this.#parents, Int32Array, capacity);
    this.#firsts = moved(this.#firsts, Int32Array, capacity);
    this.#lasts = moved(this.#lasts, Int32Array, capacity);
    this.#nexts = moved(this.#nexts, Int32Array, capacity);
    this.#previous = moved(this.#previous, Int32Array, capacity);
    this.#starts = moved(this.#starts, Int32Array, capacity);
    this.#ends = moved(this.#ends, Int32Array, capacity);
    this.#depths = moved(this.#depths, Uint16Array, capacity);
    this.#tags = moved(this.#tags, Uint8Array, capacity);
  }

  #makeRoomForAttributes(capacity: number): void {
    this.#valueStarts = moved(this.#valueStarts, Int32Array, capacity);
    this.#valueEnds = moved(this.#valueEnds, Int32Array, capacity);
    this.#attributeNames = moved(this.#attributeNames, Uint8Array, capacity);
  }
}

/** What was in `old`, with room for more. */
function moved<Numbers extends Uint8Array | Uint16Array | Int32Array>(
  old: Numbers,
  make: new (length: number) => Numbers,
  length: number,
): Numbers {
  const array = new make(length);
  array.set(old);
  return array;
}
