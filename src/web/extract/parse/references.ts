// Decodes the character references of one source text. (HTML 13.2.5.72)
// Asked from left to right, it is linear.

import {decodeHTML, decodeHTMLAttribute} from 'entities/decode';

export class ReferenceDecoder {
  readonly #source: string;
  /** The first `&` at or after the last place asked for. */
  #ampersand = -1;

  constructor(source: string) {
    this.#source = source;
  }

  /** Whether what stands between two places may be other than what it means. */
  mayDecode(start: number, end: number): boolean {
    if (this.#ampersand < start) {
      const found = this.#source.indexOf('&', start);
      this.#ampersand = found === -1 ? Number.POSITIVE_INFINITY : found;
    }
    return this.#ampersand < end;
  }

  /** The text from `start` to `end`; in attribute values, fewer references count without their semicolon. */
  decode(start: number, end: number, inAttribute: boolean): string {
    const text = this.#source.slice(start, end);
    if (!this.mayDecode(start, end)) return text;
    return inAttribute ? decodeHTMLAttribute(text) : decodeHTML(text);
  }
}
