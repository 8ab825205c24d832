import {BYTES_A_TURN, type Turns} from '../../turns.ts';
import {type ByteString, bytesOf} from '../byte-string.ts';
import {countLines} from '../diff/changed-window.ts';

const BLOCK = 65_536;
/** Lines whose ends are looked at before others have their turn. */
const ENDS_A_TURN = 262_144;

/** Content seen as lines, without making a string of each. The newline belongs to its line. */
export class TextLines {
  readonly content: ByteString;
  /** Where each line begins, and one more for the end. */
  readonly #starts: Uint32Array;

  private constructor(content: ByteString, starts: Uint32Array) {
    this.content = content;
    this.#starts = starts;
  }

  static *of(content: ByteString): Turns<TextLines> {
    // A pass over bytes into a typed array: files of millions of short lines are no exception.
    const starts = new Uint32Array((yield* countLines(content)) + 1);
    let line = 0;
    for (let from = 0; from < content.length; from += BLOCK) {
      if (from > 0 && from % BYTES_A_TURN === 0) yield;
      const bytes = bytesOf(content.slice(from, from + BLOCK));
      for (let at = 0; at < bytes.length; at += 1) {
        if (bytes[at] !== 0x0a) continue;
        line += 1;
        starts[line] = from + at + 1;
      }
    }
    starts[starts.length - 1] = content.length;
    return new TextLines(content, starts);
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

  /** One line; undefined where the text has no such line. */
  line(at: number): ByteString | undefined {
    return at < 0 || at >= this.count ? undefined : this.slice(at, at + 1);
  }

  /** Where a line begins in the content; the end of it for the line behind the last. */
  start(at: number): number {
    return this.#starts[at] ?? this.content.length;
  }

  /** Whether `text`, which consists of `lines` lines, is what stands in the lines from `at` on. */
  matches(text: ByteString, lines: number, at: number): boolean {
    const start = this.#starts[at];
    const end = this.#starts[at + lines];
    return start !== undefined && end === start + text.length && this.content.startsWith(text, start);
  }

  /** CRLF at the end of every line; the last may have no ending. */
  *isCrlf(): Turns<boolean> {
    if (this.count === 0 || !this.content.includes('\r\n')) return false;
    for (let line = 1; line <= this.count; line += 1) {
      if (line % ENDS_A_TURN === 0) yield;
      const end = this.#starts[line] ?? 0;
      if (this.content[end - 1] === '\n' && this.content[end - 2] !== '\r') return false;
    }
    return true;
  }
}
