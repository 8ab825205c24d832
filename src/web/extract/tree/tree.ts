import {TAG} from './tag.ts';

/** The depth below which Blink lets elements become siblings (`kMaximumHTMLParserDOMTreeDepth`). */
const MAX_DEPTH = 512;

/** No node: what a link holds that leads nowhere. */
export const NONE = 0;

/** The document node of every tree. */
export const DOCUMENT = 1;

/**
 * A parsed document as parallel arrays: a node is an index into them. No objects per node, no recursion,
 * and nothing here knows which parser filled it.
 */
export class Tree {
  #size = 2;
  #tags: Uint8Array;
  #depths: Uint16Array;
  #parents: Int32Array;
  #firsts: Int32Array;
  #lasts: Int32Array;
  #nexts: Int32Array;
  #previous: Int32Array;
  #attributeStarts: Int32Array;
  #attributeEnds: Int32Array;
  readonly #texts: string[] = ['', ''];
  readonly #attributeNames: number[] = [];
  readonly #attributeValues: string[] = [];

  constructor(expectedNodes: number) {
    const capacity = Math.max(expectedNodes, 64);
    this.#tags = new Uint8Array(capacity);
    this.#depths = new Uint16Array(capacity);
    this.#parents = new Int32Array(capacity);
    this.#firsts = new Int32Array(capacity);
    this.#lasts = new Int32Array(capacity);
    this.#nexts = new Int32Array(capacity);
    this.#previous = new Int32Array(capacity);
    this.#attributeStarts = new Int32Array(capacity);
    this.#attributeEnds = new Int32Array(capacity);
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
    return this.#texts[node] ?? '';
  }

  /** The value of an attribute (`ATTRIBUTE.…`), or `undefined` where the element does not have it. */
  attribute(node: number, name: number): string | undefined {
    const end = this.#attributeEnds[node] ?? 0;
    for (let index = this.#attributeStarts[node] ?? 0; index < end; index++) {
      if (this.#attributeNames[index] === name) return this.#attributeValues[index];
    }
    return undefined;
  }

  hasAttributes(node: number): boolean {
    return (this.#attributeEnds[node] ?? 0) > (this.#attributeStarts[node] ?? 0);
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
    const node = this.#create(tag, '');
    this.#attributeStarts[node] = this.#attributeNames.length;
    this.#attributeEnds[node] = this.#attributeNames.length;
    return node;
  }

  /** A new element with the tag and the attributes of another. */
  copyElement(original: number): number {
    const copy = this.createElement(this.tag(original));
    const end = this.#attributeEnds[original] ?? 0;
    for (let index = this.#attributeStarts[original] ?? 0; index < end; index++) {
      this.#attributeNames.push(this.#attributeNames[index] ?? 0);
      this.#attributeValues.push(this.#attributeValues[index] ?? '');
    }
    this.#attributeEnds[copy] = this.#attributeNames.length;
    return copy;
  }

  createText(text: string): number {
    return this.#create(TAG.text, text);
  }

  extendText(node: number, text: string): void {
    this.#texts[node] = this.text(node) + text;
  }

  /** Adds an attribute; the first value of a name counts. */
  addAttribute(node: number, name: number, value: string): void {
    if (this.attribute(node, name) !== undefined) return;
    const start = this.#attributeStarts[node] ?? 0;
    const end = this.#attributeEnds[node] ?? 0;
    if (end !== this.#attributeNames.length) {
      // Attributes that arrive late (a second <body> tag): the range moves to the end.
      this.#attributeStarts[node] = this.#attributeNames.length;
      for (let index = start; index < end; index++) {
        this.#attributeNames.push(this.#attributeNames[index] ?? 0);
        this.#attributeValues.push(this.#attributeValues[index] ?? '');
      }
    }
    this.#attributeNames.push(name);
    this.#attributeValues.push(value);
    this.#attributeEnds[node] = this.#attributeNames.length;
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

  #create(tag: number, text: string): number {
    const node = this.#size++;
    if (node === this.#tags.length) this.#grow();
    this.#tags[node] = tag;
    this.#texts.push(text);
    return node;
  }

  #grow(): void {
    this.#tags = doubled(this.#tags, Uint8Array);
    this.#depths = doubled(this.#depths, Uint16Array);
    this.#parents = doubled(this.#parents, Int32Array);
    this.#firsts = doubled(this.#firsts, Int32Array);
    this.#lasts = doubled(this.#lasts, Int32Array);
    this.#nexts = doubled(this.#nexts, Int32Array);
    this.#previous = doubled(this.#previous, Int32Array);
    this.#attributeStarts = doubled(this.#attributeStarts, Int32Array);
    this.#attributeEnds = doubled(this.#attributeEnds, Int32Array);
  }
}

function doubled<Numbers extends Uint8Array | Uint16Array | Int32Array>(
  old: Numbers,
  make: new (length: number) => Numbers,
): Numbers {
  const grown = new make(old.length * 2);
  grown.set(old);
  return grown;
}
