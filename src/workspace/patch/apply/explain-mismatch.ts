import type {Json} from '../../../core/json.ts';
import {takeStart} from '../../../core/text/take-start.ts';
import {type ByteString, readable} from '../byte-string.ts';
import {splitLines} from '../split-lines.ts';
import {LineIndex} from './line-index.ts';

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

/** Compares failed hunks of one file with the places they come nearest to. */
export class MismatchExplainer {
  readonly #content: ByteString;
  #split: readonly ByteString[] | undefined;
  #index: LineIndex | undefined;

  constructor(content: ByteString) {
    this.#content = content;
  }

  get #lines(): readonly ByteString[] {
    this.#split ??= splitLines(this.#content);
    return this.#split;
  }

  /** `stated` is the 0-based line where the block should have been. */
  explain(block: readonly ByteString[], result: readonly ByteString[], stated: number): Mismatch {
    if (this.#lines.length === 0) return {text: 'the file is empty', detail: {hint: 'empty_file'}};
    const nearest = this.#nearest(block, stated);
    const hint = this.#hint(block, result, nearest ?? stated);
    if (nearest === undefined) {
      const text = `none of its context or "-" lines occurs in the file, which has ${this.#lines.length} lines`;
      return {
        text: withHint(text, hint),
        detail: {hint: hint ?? null, expected: shown(block.slice(0, SHOWN_LINES))},
      };
    }
    let first = block.findIndex((line, offset) => this.#lines[nearest + offset] !== line);
    if (first === -1) first = 0;
    const from = Math.max(0, first - 2);
    const found = this.#lines.slice(Math.max(0, nearest + from), Math.max(0, nearest + from + SHOWN_LINES));
    const actual = this.#lines[nearest + first];
    const text =
      actual === undefined
        ? `the file ends at line ${this.#lines.length}, but the hunk expects ${quote(block[first])} in line ${nearest + first + 1}`
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
  #nearest(block: readonly ByteString[], stated: number): number | undefined {
    this.#index ??= new LineIndex(this.#lines, bare);
    const votes = new Map<number, number>();
    for (const [offset, line] of block.entries()) {
      if (line.trim() === '') continue;
      const positions = this.#index.positions(line);
      if (positions.length > VOTES_PER_LINE) continue;
      for (const position of positions) {
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
    return best ?? (stated < this.#lines.length ? stated : undefined);
  }

  #hint(block: readonly ByteString[], result: readonly ByteString[], at: number): string | undefined {
    const file = this.#lines;
    const fits = (lines: readonly ByteString[], key: (line: ByteString) => ByteString): boolean =>
      lines.length > 0 && lines.every((line, offset) => key(file[at + offset] ?? '\0') === key(line));
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

function bare(line: ByteString): ByteString {
  return line.replace(/[ \t\r\n]+/g, '');
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
