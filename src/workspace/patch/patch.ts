// What a patch says, its problems, and byte strings.
import type {FailureCode} from '../../core/failure-codes.ts';
import {type Err, type Failure, fail, type Json} from '../../core/result.ts';
import {LINES_A_TURN} from '../open-file.ts';

/** One line of a hunk: kept, removed or added. */
export interface HunkLine {
  readonly kind: ' ' | '-' | '+';
  /** With its line ending; without one where `\ No newline at end of file` followed. */
  readonly text: ByteString;
}

export interface Hunk {
  /** Line of the patch text that holds the `@@` header, 1-based. */
  readonly line: number;
  /**
   * Line of the old file where it says it belongs, 1-based; of a hunk that only adds, the line it
   * goes behind. Undefined where such a hunk contradicts itself about that, or where it says nothing.
   */
  readonly oldStart: number | undefined;
  /** Its header has no line numbers: it goes where its old lines are, if they are there once. */
  readonly hasNoLineNumber?: boolean;
  /** Lines above it, from the outermost one on: its place is below them. Only without line numbers. */
  readonly anchors?: readonly ByteString[];
  /** It ends where the file does. Only without line numbers. */
  readonly atEnd?: boolean;
  readonly lines: readonly HunkLine[];
}

interface Section {
  /** Line of the patch text where the section begins, 1-based. */
  readonly line: number;
  /** As written, without its prefix. Not yet checked against the workspace. */
  readonly path: string;
  readonly hunks: readonly Hunk[];
}

/** What a patch says about one file. */
export type PatchSection =
  | (Section & {readonly kind: 'create'; readonly executable: boolean})
  | (Section & {
      readonly kind: 'delete';
      /** It does not quote the content. */
      readonly whole?: boolean;
    })
  | (Section & {readonly kind: 'modify'; readonly executable: boolean | undefined})
  | (Section & {readonly kind: 'rename'; readonly from: string; readonly executable: boolean | undefined});

export interface Patch {
  readonly sections: readonly PatchSection[];
  /** Hunks whose header had wrong line counts (ruling W7). */
  readonly recounted: number;
  /** Of the text as submitted. */
  readonly sizeBytes: number;
}

/** One reason why a parsed patch does not apply. */
export interface PatchProblem {
  readonly failure: Failure;
  /** Line of the patch text. */
  readonly line: number;
  /** What the message says, for programs. */
  readonly details: readonly {readonly [name: string]: Json}[];
}

const NAMED = 5;
/** With several, the one that says most about the intent of the patch gives the code. */
const ORDER: readonly FailureCode[] = ['path_escape', 'symlink_blocked', 'not_a_file', 'file_not_found'];

/** A section that cannot be applied, or hunks of it. */
export function hunkProblem(message: string, line: number, details: PatchProblem['details']): PatchProblem {
  return {failure: fail('patch_hunk_fail', message).error, line, details};
}

/** A path that cannot be used. */
export function pathProblem(failure: Failure, line: number): PatchProblem {
  const {path = null} = failure.details;
  return {failure, line, details: [{path, message: failure.message}]};
}

/** All problems as one failure. Its details hold nothing that the message does not say. */
export function patchFailure(problems: readonly [PatchProblem, ...PatchProblem[]]): Err<Failure> {
  const rank = ({failure}: PatchProblem): number => {
    const found = ORDER.indexOf(failure.code);
    if (found !== -1) return found;
    return failure.code === 'patch_hunk_fail' ? ORDER.length + 1 : ORDER.length;
  };
  const leading = problems.reduce((best, problem) => (rank(problem) < rank(best) ? problem : best));
  const ranked = [leading, ...problems.filter(problem => problem !== leading)];
  const named = ranked.slice(0, NAMED);
  const rest = ranked.slice(NAMED).map(({line}) => line);
  const more =
    rest.length === 0
      ? ''
      : ` ${rest.length} more ${rest.length === 1 ? 'problem' : 'problems'}, at patch ${rest.length === 1 ? 'line' : 'lines'} ${cutList(rest)}.`;
  const message = `${named.map(({failure}) => failure.message).join(' ')}${more} Nothing was written.`;
  const {failure} = leading;
  const isSingle = problems.length === 1 && failure.code !== 'patch_hunk_fail';
  const details = isSingle
    ? failure.details
    : {...failure.details, problems: named.flatMap(problem => problem.details)};
  return {ok: false, error: {...failure, message, details}};
}

const LISTED = 20;

function cutList(lines: readonly number[]): string {
  return `${lines.slice(0, LISTED).join(', ')}${lines.length > LISTED ? ' and more' : ''}`;
}

/**
 * Bytes, one character (U+0000 to U+00FF) for each. Patches are about bytes, not characters: in this
 * form any content survives, lines are compared with `===`, and slicing does not copy.
 */
export type ByteString = string;

export function byteString(bytes: Uint8Array): ByteString {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

export function bytesOf(text: ByteString): Buffer {
  return Buffer.from(text, 'latin1');
}

/** For people and messages: what is not UTF-8 becomes U+FFFD. */
export function readable(text: ByteString): string {
  return bytesOf(text).toString('utf8');
}

/** Lines with their `\n`; only the last may lack one. Joined, they are the content again. */
export function splitLines(content: ByteString): ByteString[] {
  const lines: ByteString[] = [];
  let start = 0;
  while (start < content.length) {
    const newline = content.indexOf('\n', start);
    const end = newline === -1 ? content.length : newline + 1;
    lines.push(content.slice(start, end));
    start = end;
  }
  return lines;
}

/** A text from very many pieces, none of whose steps takes long: they are joined now and then. */
export class TextBuilder {
  readonly #blocks: string[] = [];
  #pieces: string[] = [];

  push(piece: string): void {
    this.#pieces.push(piece);
    if (this.#pieces.length < LINES_A_TURN) return;
    this.#blocks.push(this.#pieces.join(''));
    this.#pieces = [];
  }

  finish(): string {
    return this.#blocks.join('') + this.#pieces.join('');
  }
}
