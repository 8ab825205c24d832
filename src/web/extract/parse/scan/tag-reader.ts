import {ATTRIBUTE, type AttributeName} from '../../tree/attribute.ts';
import type {SourceText} from '../../tree/source-text.ts';
import {ELEMENT_NAMES, HTML, keyOf} from '../element-name.ts';
import {NameTable} from './name-table.ts';
import type {ReferenceDecoder} from './reference-decoder.ts';
import {endsName, isBlank} from './source-character.ts';

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

const ATTRIBUTES = new NameTable(READ_NAMES);
const ELEMENTS = new NameTable(ELEMENT_NAMES);

/** HTML 13.2.5.8 and the states after it: reads one tag at a time. */
export class TagReader {
  readonly #text: SourceText;
  readonly #source: string;
  readonly #decoder: ReferenceDecoder;
  readonly #unknownNames = new Map<string, number>();
  #seen = 0;
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

  constructor(source: SourceText, decoder: ReferenceDecoder) {
    this.#text = source;
    this.#source = source.units;
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
    this.#seen = 0;
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
      : this.#text.slice(start, this.valueEnds[index] ?? 0);
  }

  hasAttribute(attribute: number): boolean {
    return ((this.#seen >> attribute) & 1) === 1;
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
    this.#seen |= 1 << name;
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
