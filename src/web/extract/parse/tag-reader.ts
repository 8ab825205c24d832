// Reads one tag with its attributes.

import {ATTRIBUTE, type AttributeName} from '../tree/tags.ts';
import {ELEMENT_NAMES, HTML, keyOf} from './element-names.ts';
import type {ReferenceDecoder} from './references.ts';

/** Attributes that only the rules of tree construction read, or that foreign elements have under another name. */
const EXTRA_ATTRIBUTES = ['xlink:href', 'xlink:role', 'xml:lang', 'color', 'face', 'size'] as const;

type ReadAttributeName = AttributeName | (typeof EXTRA_ATTRIBUTES)[number];

const READ_NAMES = [...(Object.keys(ATTRIBUTE) as AttributeName[]), ...EXTRA_ATTRIBUTES];

/** The attributes that are read at all, as small integers; those that a tree keeps have the same in `ATTRIBUTE`. */
export const READ_ATTRIBUTE = Object.freeze(
  Object.fromEntries(READ_NAMES.map((name, id) => [name, id])),
) as Readonly<Record<ReadAttributeName, number>>;

/** In place of where something stands in the source. */
export const NOWHERE = -1;

const SLOTS = 1024;

/** Finds lower-case names in a source text, in any ASCII case, without cutting them out. */
class NameTable {
  readonly #names: readonly string[];
  /** The index of a name plus one, by its hash; 0 for a free slot. */
  readonly #slots = new Uint8Array(SLOTS);

  /** At most 255 names. */
  constructor(names: readonly string[]) {
    this.#names = names;
    for (const [index, name] of names.entries()) {
      let slot = hash(name, 0, name.length);
      while (this.#slots[slot] !== 0) slot = (slot + 1) % SLOTS;
      this.#slots[slot] = index + 1;
    }
  }

  /** The index of the name that stands in `source` from `start` to `end`, or -1. */
  find(source: string, start: number, end: number): number {
    let slot = hash(source, start, end);
    for (;;) {
      const entry = this.#slots[slot] ?? 0;
      if (entry === 0) return -1;
      if (isAt(source, start, end, this.#names[entry - 1] ?? '')) return entry - 1;
      slot = (slot + 1) % SLOTS;
    }
  }
}

const ATTRIBUTES = new NameTable(READ_NAMES);
const ELEMENTS = new NameTable(ELEMENT_NAMES);

/** HTML 13.2.5.8 and the states after it: reads one tag at a time. */
export class TagReader {
  readonly #source: string;
  readonly #decoder: ReferenceDecoder;
  readonly #unknownNames = new Map<string, number>();
  /** The tag that was read last. */
  name = 0;
  isSelfClosing = false;
  /** Its attributes that are read, by the numbers in `READ_ATTRIBUTE`; beyond `attributeCount` stands what is past. */
  attributeCount = 0;
  readonly attributeNames: number[] = [];
  /** Where their values stand in the source; the start is `NOWHERE` for one that means something else than it says. */
  readonly valueStarts: number[] = [];
  readonly valueEnds: number[] = [];
  /** What these mean. */
  readonly decodedValues: string[] = [];

  constructor(source: string, decoder: ReferenceDecoder) {
    this.#source = source;
    this.#decoder = decoder;
  }

  /** Reads the tag whose name begins at `start`; returns the place behind its `>`, or -1 where the source ends first. */
  read(start: number): number {
    const source = this.#source;
    const length = source.length;
    let at = start + 1;
    while (at < length && !endsName(source.charCodeAt(at))) at++;
    this.name = this.#nameAt(start, at);
    this.isSelfClosing = false;
    this.attributeCount = 0;
    if (source.charCodeAt(at) === 0x3e) return at + 1;
    return this.readAttributes(at);
  }

  /** The key of the HTML element of the last tag. */
  get key(): number {
    return keyOf(this.name, HTML);
  }

  /** The value of an attribute that the last tag has. */
  valueOf(attribute: number): string | undefined {
    if (!this.hasAttribute(attribute)) return undefined;
    const index = this.attributeNames.indexOf(attribute);
    const start = this.valueStarts[index] ?? 0;
    return start === NOWHERE
      ? this.decodedValues[index]
      : this.#source.slice(start, this.valueEnds[index] ?? 0);
  }

  hasAttribute(attribute: number): boolean {
    for (let index = 0; index < this.attributeCount; index++) {
      if (this.attributeNames[index] === attribute) return true;
    }
    return false;
  }

  /** Reads on from behind a tag name; returns as `read` does. */
  readAttributes(start: number): number {
    const source = this.#source;
    const length = source.length;
    let at = start;
    while (at < length) {
      const unit = source.charCodeAt(at);
      if (unit === 0x3e) return at + 1;
      if (isBlank(unit)) {
        at++;
      } else if (unit === 0x2f) {
        at++;
        if (source.charCodeAt(at) === 0x3e) {
          this.isSelfClosing = true;
          return at + 1;
        }
      } else {
        at = this.#readAttribute(at);
        if (at === -1) return -1;
      }
    }
    return -1;
  }

  #readAttribute(start: number): number {
    const source = this.#source;
    const length = source.length;
    // A first `=` is part of the name.
    let nameEnd = start + 1;
    while (nameEnd < length) {
      const unit = source.charCodeAt(nameEnd);
      if (unit === 0x3d || endsName(unit)) break;
      nameEnd++;
    }
    let at = nameEnd;
    while (at < length && isBlank(source.charCodeAt(at))) at++;
    if (at === length) return -1;
    if (source.charCodeAt(at) !== 0x3d) {
      this.#add(start, nameEnd, 0, 0);
      return at;
    }
    at++;
    while (at < length && isBlank(source.charCodeAt(at))) at++;
    if (at === length) return -1;
    const quote = source.charCodeAt(at);
    if (quote === 0x22 || quote === 0x27) {
      const end = source.indexOf(quote === 0x22 ? '"' : "'", at + 1);
      if (end === -1) return -1;
      this.#add(start, nameEnd, at + 1, end);
      return end + 1;
    }
    const valueStart = at;
    while (at < length) {
      const unit = source.charCodeAt(at);
      if (unit === 0x3e || isBlank(unit)) break;
      at++;
    }
    if (at === length) return -1;
    this.#add(start, nameEnd, valueStart, at);
    return at;
  }

  /** Keeps an attribute that somebody reads; the first of its name counts. */
  #add(nameStart: number, nameEnd: number, valueStart: number, valueEnd: number): void {
    const name = ATTRIBUTES.find(this.#source, nameStart, nameEnd);
    if (name === -1 || this.hasAttribute(name)) return;
    const index = this.attributeCount++;
    const isDecoded = valueStart < valueEnd && this.#decoder.mayDecode(valueStart, valueEnd);
    this.attributeNames[index] = name;
    this.valueStarts[index] = isDecoded ? NOWHERE : valueStart;
    this.valueEnds[index] = valueEnd;
    if (isDecoded) this.decodedValues[index] = this.#decoder.decode(valueStart, valueEnd, true);
  }

  #nameAt(start: number, end: number): number {
    const known = ELEMENTS.find(this.#source, start, end);
    if (known !== -1) return known;
    const name = this.#source.slice(start, end).replace(/[A-Z]+/g, upper => upper.toLowerCase());
    let id = this.#unknownNames.get(name);
    if (id === undefined) {
      id = ELEMENT_NAMES.length + this.#unknownNames.size;
      this.#unknownNames.set(name, id);
    }
    return id;
  }
}

function hash(source: string, start: number, end: number): number {
  const first = source.charCodeAt(start) | 0x20;
  const middle = source.charCodeAt((start + end) >> 1) | 0x20;
  const last = source.charCodeAt(end - 1) | 0x20;
  return (first * 5 + middle * 71 + last * 29 + (end - start) * 131) % SLOTS;
}

function isAt(source: string, start: number, end: number, name: string): boolean {
  if (name.length !== end - start) return false;
  for (let index = 0; index < name.length; index++) {
    const unit = source.charCodeAt(start + index);
    const lower = unit >= 0x41 && unit <= 0x5a ? unit | 0x20 : unit;
    if (lower !== name.charCodeAt(index)) return false;
  }
  return true;
}

/** HTML's white space; a CR is not in a source any more. */
function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x09 || unit === 0x0c;
}

/** Whether a code unit ends a tag name. */
export function endsName(unit: number): boolean {
  return unit === 0x3e || unit === 0x2f || isBlank(unit);
}

export function isLetter(unit: number): boolean {
  const lower = unit | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}
