import type {Json} from '../../../core/json.ts';
import {takeStart} from '../../../core/text/take-start.ts';
import type {Turns} from '../../turns.ts';
import {type ByteString, readable} from '../byte-string.ts';
import {bare, LineIndex} from './line-index.ts';
import type {TextLines} from './text-lines.ts';

/** How a hunk that does not match could be meant. */
export interface Mismatch {
  /** A sentence without its subject: `line 3 is …, but the hunk expects …`. */
  readonly text: string;
  readonly detail: {readonly [name: string]: Json};
}

const SHOWN_LINES = 8;
const SHOWN_CHARACTERS = 160;
/** A line that occurs more often than this tells nothing about the place. */
const VOTES_PER_LINE = 64;
/** So many lines of a long hunk say where it was meant to be. */
const EXPLAINED_LINES = 10_000;

/** Compares failed hunks of one file with the places they come nearest to. */
export class MismatchExplainer {
  readonly #file: TextLines;
  #index: LineIndex | undefined;

  constructor(file: TextLines) {
    this.#file = file;
  }

  /** `stated` is the 0-based line where the block should have been. */
  *explain(
    {
      lines: wholeBlock,
      result: wholeResult,
    }: {readonly lines: readonly ByteString[]; readonly result: readonly ByteString[]},
    stated: number,
  ): Turns<Mismatch> {
    const block = wholeBlock.slice(0, EXPLAINED_LINES);
    const result = wholeResult.slice(0, EXPLAINED_LINES);
    if (this.#file.count === 0) return {text: 'the file is empty', detail: {hint: 'empty_file'}};
    const nearest = yield* this.#nearest(block, stated);
    const hint = this.#hint(block, result, nearest ?? stated);
    if (nearest === undefined) {
      const text = `none of its context or "-" lines occurs in the file, which has ${this.#file.count} lines`;
      return {
        text: withHint(text, hint),
        detail: {hint: hint ?? null, expected: shown(block.slice(0, SHOWN_LINES))},
      };
    }
    let first = block.findIndex((line, offset) => this.#file.line(nearest + offset) !== line);
    if (first === -1) first = 0;
    const from = Math.max(0, first - 2);
    const found = Array.from(
      {length: SHOWN_LINES},
      (_, at) => this.#file.line(nearest + from + at) ?? [],
    ).flat();
    const actual = this.#file.line(nearest + first);
    const text =
      actual === undefined
        ? `the file ends at line ${this.#file.count}, but the hunk expects ${quote(block[first])} in line ${nearest + first + 1}`
        : `line ${nearest + first + 1} is ${quote(actual)}, but the hunk expects ${quote(block[first])}`;
    return {
      text: withHint(text, hint),
      detail: {
        hint: hint ?? null,
        nearest_line: nearest + 1,
        expected: shown(block.slice(from, from + SHOWN_LINES)),
        found: shown(found),
      },
    };
  }

  /** Each line of the block votes for the places it would put the block at. */
  *#nearest(block: readonly ByteString[], stated: number): Turns<number | undefined> {
    this.#index ??= yield* LineIndex.of(this.#file, 'bare');
    const votes = new Map<number, number>();
    for (const [offset, line] of block.entries()) {
      if (line.trim() === '') continue;
      if (this.#index.count(line) > VOTES_PER_LINE) continue;
      for (const position of this.#index.positions(line)) {
        const start = position - offset;
        if (start >= 0) votes.set(start, (votes.get(start) ?? 0) + 1);
      }
    }
    let best: number | undefined;
    let most = 0;
    for (const [start, count] of votes) {
      const nearer = best === undefined || Math.abs(start - stated) < Math.abs(best - stated);
      if (count > most || (count === most && nearer)) {
        best = start;
        most = count;
      }
    }
    return best ?? (stated < this.#file.count ? stated : undefined);
  }

  #hint(block: readonly ByteString[], result: readonly ByteString[], at: number): string | undefined {
    const fits = (lines: readonly ByteString[], key: (line: ByteString) => ByteString): boolean =>
      lines.length > 0 &&
      lines.every((line, offset) => key(this.#file.line(at + offset) ?? '\0') === key(line));
    if (fits(block, line => line.replace(/\n$/, ''))) return 'final_newline';
    if (fits(block, line => line.replace(/\r?\n$/, ''))) return 'line_endings';
    if (fits(block, bare)) return 'white_space';
    if (fits(result, line => line)) return 'already_applied';
    const numbered = block.filter(line => /^\s*\d+\s*[|:\t]/.test(line)).length;
    return numbered * 2 > block.length ? 'line_numbers' : undefined;
  }
}

const HINTS: Readonly<Record<string, string>> = {
  final_newline:
    'they differ in the newline at the end of the file: "\\ No newline at end of file" says there is none',
  line_endings: 'they differ in line endings (CRLF and LF are mixed)',
  white_space: 'they differ in white space',
  already_applied: 'the change seems to be there already',
  line_numbers: 'the hunk seems to contain line numbers; leave them out',
};

function withHint(text: string, hint: string | undefined): string {
  return hint === undefined ? text : `${text}; ${HINTS[hint] ?? ''}`;
}

function quote(line: ByteString | undefined): string {
  return JSON.stringify(shown([line ?? ''])[0]);
}

function shown(lines: readonly ByteString[]): string[] {
  return lines.map(line => {
    // Cut in bytes first, so that a line of megabytes costs nothing.
    const text = readable(line.slice(0, 4 * SHOWN_CHARACTERS)).replace(/\n$/, '');
    return text.length > SHOWN_CHARACTERS ? `${takeStart(text, SHOWN_CHARACTERS)}…` : text;
  });
}
