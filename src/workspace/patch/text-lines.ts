// The lines of a text and an index over them, for large files.
import {randomHex} from '../../core/clock.ts';
import {BYTES_A_TURN, type Turns} from '../open-file.ts';
import {countLines} from './changed-window.ts';
import {type ByteString, byteString, bytesOf, readable} from './patch.ts';

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

/** What is left to spend on searching. Shared by the hunks of a section, so that all of them together stay linear. */
export interface SearchAllowance {
  comparisons: number;
}

/** Characters that are hashed before others have their turn. */
const HASHED_A_TURN = 524_288;
/** Lines of a block that are looked up before others have their turn. */
const LOOKED_UP_A_TURN = 4_096;
/** Longer lines are told apart by their beginning; to be the same they still have to be equal. */
const HASHED = 65_536;
const NONE = -1;
const ONE_LINE = 1;

/** How lines are compared: to the byte, or by what a form leaves of them. */
export type LineForm =
  | 'exact'
  | 'lineEnd'
  | 'blanksAtEnd'
  | 'indentation'
  | 'typography'
  | 'withoutWhitespace';

/** What counts of a line in each form. */
const COUNTS: {readonly [form in Exclude<LineForm, 'exact'>]: (line: ByteString) => ByteString} = {
  lineEnd: line => line.replace(/\r?\n$/, ''),
  blanksAtEnd: withoutBlanksAtEnd,
  indentation: withoutBlanksAround,
  typography: line => withoutBlanksAround(plainPunctuation(line)),
  withoutWhitespace,
};

/**
 * Finds blocks of lines. Built once for a file, and only if some hunk is not where it says. Numbers in typed
 * arrays and not a map: with millions of lines, growing a map holds up everything else.
 */
export class LineIndex {
  readonly #file: TextLines;
  readonly #form: LineForm;
  readonly #seed = Number.parseInt(randomHex(4), 16);
  /** The first line of the last text with that hash. */
  readonly #heads: Int32Array;
  /** By the first line of a text: the first line of another text with the same hash. */
  readonly #siblings: Int32Array;
  /** The next line of the same text. */
  readonly #next: Int32Array;
  /** By the first line of a text: how often it occurs. */
  readonly #counts: Int32Array;

  private constructor(file: TextLines, form: LineForm) {
    this.#file = file;
    this.#form = form;
    const slots = 2 ** Math.max(4, Math.ceil(Math.log2(file.count + 1)));
    this.#heads = new Int32Array(slots).fill(NONE);
    this.#siblings = new Int32Array(file.count).fill(NONE);
    this.#next = new Int32Array(file.count).fill(NONE);
    this.#counts = new Int32Array(file.count);
  }

  static *of(file: TextLines, form: LineForm = 'exact'): Turns<LineIndex> {
    const index = new LineIndex(file, form);
    const last = new Int32Array(file.count);
    let turn = HASHED_A_TURN;
    for (let at = 0; at < file.count; at += 1) {
      if (file.start(at) >= turn) {
        turn = file.start(at) + HASHED_A_TURN;
        yield;
      }
      index.#add(at, last);
    }
    return index;
  }

  /** How often a line occurs. */
  count(line: ByteString): number {
    const first = this.#first(line);
    return first === NONE ? 0 : (this.#counts[first] ?? 0);
  }

  /** Where it occurs, in order. */
  *positions(line: ByteString): Generator<number> {
    for (let at = this.#first(line); at !== NONE; at = this.#next[at] ?? NONE) yield at;
  }

  /**
   * Where the block begins, at most `limit` places, in order; undefined when the allowance ran out.
   * Candidates come from the rarest line of the block.
   */
  *occurrences(
    block: readonly ByteString[],
    limit: number,
    allowance: SearchAllowance,
  ): Turns<number[] | undefined> {
    let anchor = 0;
    let fewest = Number.POSITIVE_INFINITY;
    for (const [offset, line] of block.entries()) {
      if (offset % LOOKED_UP_A_TURN === LOOKED_UP_A_TURN - 1) yield;
      const count = this.count(line);
      if (count >= fewest) continue;
      anchor = offset;
      fewest = count;
      if (count === 0) return [];
    }
    const found: number[] = [];
    let compared = 0;
    for (const position of this.positions(block[anchor] ?? '')) {
      const start = position - anchor;
      if (start < 0 || start + block.length > this.#file.count) continue;
      let equal = 0;
      for (; equal < block.length; equal += 1) {
        compared += 1;
        if (compared % LOOKED_UP_A_TURN === 0) yield;
        if (!this.#isAt(block[equal] ?? '', start + equal)) break;
      }
      allowance.comparisons -= equal + 1;
      if (equal === block.length) found.push(start);
      if (found.length === limit) break;
      if (allowance.comparisons < 0) return undefined;
    }
    return found;
  }

  #add(at: number, last: Int32Array): void {
    const line = this.#file.slice(at, at + ONE_LINE);
    const slot = this.#slot(line);
    for (let first = this.#heads[slot] ?? NONE; first !== NONE; first = this.#siblings[first] ?? NONE) {
      if (!this.#isAt(line, first)) continue;
      this.#next[last[first] ?? 0] = at;
      last[first] = at;
      this.#counts[first] = (this.#counts[first] ?? 0) + 1;
      return;
    }
    this.#siblings[at] = this.#heads[slot] ?? NONE;
    this.#heads[slot] = at;
    this.#counts[at] = 1;
    last[at] = at;
  }

  #first(line: ByteString): number {
    let first = this.#heads[this.#slot(line)] ?? NONE;
    while (first !== NONE && !this.#isAt(line, first)) first = this.#siblings[first] ?? NONE;
    return first;
  }

  #isAt(line: ByteString, at: number): boolean {
    if (this.#form === 'exact') return this.#file.matches(line, ONE_LINE, at);
    return this.#beginning(this.#file.slice(at, at + ONE_LINE)) === this.#beginning(line);
  }

  #slot(line: ByteString): number {
    const text = this.#beginning(line);
    // Nobody who wrote the file knows the seed, so nobody has all lines meet in one slot.
    let hash = this.#seed;
    for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    hash ^= hash >>> 15;
    return (hash >>> 0) & (this.#heads.length - 1);
  }

  /** What counts of a line. A longer one is the same as another only to the byte. */
  #beginning(line: ByteString): ByteString {
    if (this.#form === 'exact') return line.slice(0, HASHED);
    if (this.#form === 'withoutWhitespace') return withoutWhitespace(line.slice(0, HASHED));
    return line.length > HASHED ? line : COUNTS[this.#form](line);
  }
}

const BLANKS = ' \t\r\n';

function withoutBlanksAtEnd(line: ByteString): ByteString {
  let end = line.length;
  while (end > 0 && BLANKS.includes(line[end - 1] ?? '')) end -= 1;
  return line.slice(0, end);
}

/** A line without the blanks at both ends. */
export function withoutBlanksAround(line: ByteString): ByteString {
  const text = withoutBlanksAtEnd(line);
  let start = 0;
  while (start < text.length && BLANKS.includes(text[start] ?? '')) start += 1;
  return text.slice(start);
}

/** Characters that models and editors put in the place of plain ones. */
const TYPOGRAPHY: readonly (readonly [RegExp, string])[] = [
  [/[\u2018-\u201b\u2032]/g, "'"],
  [/[\u201c-\u201f\u2033]/g, '"'],
  [/[\u2010-\u2015\u2212]/g, '-'],
  [/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, ' '],
  [/\u2026/g, '...'],
];

function plainPunctuation(line: ByteString): ByteString {
  if (/^[\x00-\x7f]*$/.test(line)) return line;
  const text = readable(line);
  // What is not UTF-8 has no punctuation.
  if (text.includes('\ufffd')) return line;
  return byteString(Buffer.from(TYPOGRAPHY.reduce((plain, [form, as]) => plain.replace(form, as), text)));
}

/** A line without its white space. */
export function withoutWhitespace(line: ByteString): ByteString {
  return line.replace(/[ \t\r\n]+/g, '');
}
