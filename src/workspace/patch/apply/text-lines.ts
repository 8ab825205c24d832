import {type ByteString, bytesOf} from '../byte-string.ts';
import {countLines} from '../diff/changed-window.ts';

/** Content seen as lines, without making a string of each. The newline belongs to its line. */
export class TextLines {
  readonly content: ByteString;
  /** Where each line begins, and one more for the end. */
  readonly #starts: Uint32Array;

  constructor(content: ByteString) {
    // A pass over bytes into a typed array: files of millions of short lines are no exception.
    const starts = new Uint32Array(countLines(content) + 1);
    const bytes = bytesOf(content);
    let line = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      if (bytes[at] !== 0x0a) continue;
      line += 1;
      starts[line] = at + 1;
    }
    starts[starts.length - 1] = content.length;
    this.content = content;
    this.#starts = starts;
  }

  get count(): number {
    return this.#starts.length - 1;
  }

  get endsWithNewline(): boolean {
    return this.content.endsWith('\n');
  }

  /** The text of the lines `from` to `to`, the end excluded. */
  slice(from: number, to: number): ByteString {
    return this.content.slice(this.#starts[from], this.#starts[to]);
  }

  /** Whether `text`, which consists of `lines` lines, is what stands in the lines from `at` on. */
  matches(text: ByteString, lines: number, at: number): boolean {
    const start = this.#starts[at];
    const end = this.#starts[at + lines];
    return start !== undefined && end === start + text.length && this.content.startsWith(text, start);
  }

  /** CRLF at the end of every line; the last may have no ending. */
  get isCrlf(): boolean {
    if (this.count === 0 || !this.content.includes('\r\n')) return false;
    return this.#starts.every(
      (start, line) => line === 0 || this.content[start - 1] !== '\n' || this.content[start - 2] === '\r',
    );
  }
}
