/** Longer than what is looked for, which is within one line. */
const LONGEST_REST = 16_384;

/** Finds a text in what comes in parts, also where it lies across two of them. */
export class LineFinder {
  readonly #text: string;
  readonly #decoder = new TextDecoder();
  /** The line that is not complete yet, or the end of a long one. */
  #rest = '';

  constructor(text: string) {
    this.#text = text;
  }

  /** The line that has it, as far as it is there. */
  find(bytes: Uint8Array): string | undefined {
    const text = this.#rest + this.#decoder.decode(bytes, {stream: true});
    const at = text.indexOf(this.#text);
    if (at !== -1) {
      const end = text.indexOf('\n', at);
      return text.slice(text.lastIndexOf('\n', at) + 1, end === -1 ? undefined : end);
    }
    this.#rest = text.slice(text.lastIndexOf('\n') + 1).slice(-LONGEST_REST);
    return undefined;
  }
}
