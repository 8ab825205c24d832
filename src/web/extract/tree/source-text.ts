const NOT_ASCII = /[\x80-\xff]/;
const BYTES_PER_UNIT = 3;
const LARGE = 1_048_576;

/**
 * The source of a document, for a parser to search. `units` is its text, or where that takes less memory, its bytes in
 * UTF-8, a unit each: one character beyond Latin-1 doubles what a text takes. All that is markup is ASCII, in which both
 * are the same, so only what is cut out has to be decoded.
 */
export class SourceText {
  readonly units: string;
  /** Of the text, in UTF-16 units. */
  readonly length: number;
  readonly #isUtf8: boolean;

  private constructor(units: string, length: number, isUtf8: boolean) {
    this.units = units;
    this.length = length;
    this.#isUtf8 = isUtf8;
  }

  static of(source: string | SourceText): SourceText {
    return typeof source === 'string' ? new SourceText(source, source.length, false) : source;
  }

  /** Of valid UTF-8 that decodes to `length` UTF-16 units. */
  static ofUtf8(bytes: Uint8Array, length: number): SourceText {
    const units = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
    return new SourceText(units, length, length < bytes.length);
  }

  /** Whether the memory of its tree counts for more than the time to read it. */
  get isLarge(): boolean {
    return this.units.length >= LARGE;
  }

  /** The text between two places in `units`, before and behind neither of which is a part of a character. */
  slice(start: number, end: number): string {
    const piece = this.units.slice(start, end);
    return this.#isUtf8 ? decoded(piece) : piece;
  }

  /** As many UTF-16 units of the text as there are, up to `most`, from a place in `units` on. */
  from(start: number, most: number): string {
    if (!this.#isUtf8) return this.units.slice(start, start + most);
    // A unit has three bytes at most, and what the end cuts off is no unit that is asked for.
    return decoded(this.units.slice(start, start + BYTES_PER_UNIT * (most + 1))).slice(0, most);
  }

  /** The same text with other line ends, or with less markup. */
  replace(pattern: RegExp, replacement: string): SourceText {
    const units = this.units.replace(pattern, replacement);
    return new SourceText(units, this.length - (this.units.length - units.length), this.#isUtf8);
  }

  toString(): string {
    return this.#isUtf8 ? decoded(this.units) : this.units;
  }
}

function decoded(piece: string): string {
  return NOT_ASCII.test(piece) ? Buffer.from(piece, 'latin1').toString('utf8') : piece;
}
