import {randomHex} from '../../../core/random.ts';
import type {Turns} from '../../turns.ts';
import type {ByteString} from '../byte-string.ts';
import type {TextLines} from './text-lines.ts';

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

/** How lines are compared: to the byte, or without their white space. */
export type LineForm = 'exact' | 'bare';

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
    return beginning(this.#file.slice(at, at + ONE_LINE)) === beginning(line);
  }

  #slot(line: ByteString): number {
    const text = this.#form === 'exact' ? line.slice(0, HASHED) : beginning(line);
    // Nobody who wrote the file knows the seed, so nobody has all lines meet in one slot.
    let hash = this.#seed;
    for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    hash ^= hash >>> 15;
    return (hash >>> 0) & (this.#heads.length - 1);
  }
}

/** What counts of a line where white space does not. */
function beginning(line: ByteString): ByteString {
  return bare(line.slice(0, HASHED));
}

/** A line without its white space. */
export function bare(line: ByteString): ByteString {
  return line.replace(/[ \t\r\n]+/g, '');
}
