import {isWhiteSpace} from '../../chunk/white-space.ts';
import {SYNTAX} from './syntax.ts';

/** What a reader sees of a text, in one spelling, and where each unit of it comes from. */
export interface PlainText {
  readonly text: string;
  /** Of each unit of `text`: the place in the source. */
  readonly places: Int32Array;
}

const SPACE = 0x20;
/** Typographic characters and what they are compared as. */
const FOLDED: ReadonlyMap<number, string> = new Map([
  ...'‘’‚‛′´'.split('').map(mark => [mark.charCodeAt(0), "'"] as const),
  ...'“”„‟«»″'.split('').map(mark => [mark.charCodeAt(0), '"'] as const),
  ...'‐‑‒–—―−'.split('').map(mark => [mark.charCodeAt(0), '-'] as const),
  ['…'.charCodeAt(0), '...'],
]);
/** Seen by nobody: soft hyphen, zero-width space, word joiner, byte order mark. */
const UNSEEN: ReadonlySet<number> = new Set([0xad, 0x200b, 0x2060, 0xfeff]);

/**
 * Runs of white space are one blank, quotation marks and dashes are ASCII, accents are composed. With `marks`,
 * Markdown syntax is gone too. No letter or digit is lost, added or moved, so two texts that are the same here
 * have the same words. Without `folds`, characters stay as the page has them.
 */
export function plainTextOf(source: string, marks?: Uint8Array, {folds = true} = {}): PlainText {
  const writer = new PlainWriter(source.length);
  for (let at = 0; at < source.length; at += 1) {
    const mark = marks?.[at] ?? SYNTAX.text;
    if (mark === SYNTAX.link || mark === SYNTAX.inline) continue;
    const unit = source.charCodeAt(at);
    if (mark === SYNTAX.block || isWhiteSpace(unit)) writer.blank();
    else if (unit < 0x80 || !folds) writer.put(unit, at);
    else if (!UNSEEN.has(unit)) writer.fold(unit, at);
  }
  return writer.finish();
}

class PlainWriter {
  #units: Uint16Array;
  #places: Int32Array;
  #length = 0;
  #blank = false;

  constructor(length: number) {
    this.#units = new Uint16Array(length + 16);
    this.#places = new Int32Array(length + 16);
  }

  blank(): void {
    this.#blank = this.#length > 0;
  }

  put(unit: number, place: number): void {
    if (this.#length + 2 > this.#units.length) this.#grow();
    if (this.#blank) {
      this.#blank = false;
      this.#units[this.#length] = SPACE;
      this.#places[this.#length] = place;
      this.#length += 1;
    }
    this.#units[this.#length] = unit;
    this.#places[this.#length] = place;
    this.#length += 1;
  }

  fold(unit: number, place: number): void {
    if (unit >= 0x300 && unit <= 0x36f && this.#compose(unit)) return;
    const folded = FOLDED.get(unit);
    if (folded === undefined) this.put(unit, place);
    else for (let index = 0; index < folded.length; index += 1) this.put(folded.charCodeAt(index), place);
  }

  finish(): PlainText {
    const parts: string[] = [];
    for (let from = 0; from < this.#length; from += 8192) {
      const units = this.#units.subarray(from, Math.min(this.#length, from + 8192));
      parts.push(String.fromCharCode(...units));
    }
    return {text: parts.join(''), places: this.#places.slice(0, this.#length)};
  }

  /** Makes one character of a letter and the accent behind it, if there is one. */
  #compose(accent: number): boolean {
    if (this.#blank || this.#length === 0) return false;
    const letter = this.#units[this.#length - 1] as number;
    const composed = String.fromCharCode(letter, accent).normalize('NFC');
    if (composed.length !== 1) return false;
    this.#units[this.#length - 1] = composed.charCodeAt(0);
    return true;
  }

  #grow(): void {
    const units = new Uint16Array(2 * this.#units.length);
    units.set(this.#units);
    this.#units = units;
    const places = new Int32Array(2 * this.#places.length);
    places.set(this.#places);
    this.#places = places;
  }
}
