// Reads lines of a UTF-8 file in one pass, with its hash.
import type {Deadline} from '../core/deadline.ts';
import {fail, ok, type Result} from '../core/result.ts';
import type {Workspace} from './jail/jail.ts';
import {type ContentHash, ContentHasher, readBlocks} from './open-file.ts';
import {RangeWindow, Utf8Check} from './range-window.ts';
import {quotePath, type WorkspacePath} from './workspace-path.ts';

/** Tool API, read_file: more lines than this are cut to the first and the last half of them. */
const MAX_LINES = 10_000;
const NEWLINE = 10;

export interface ReadTextOptions {
  /** From 1, inclusive, like `endLine`. */
  readonly startLine?: number | undefined;
  readonly endLine?: number | undefined;
  /** Bytes of content that are shown; the marker comes on top. */
  readonly maxBytes: number;
  readonly deadline?: Deadline | undefined;
}

/** Tool API, read_file: `data`. */
export interface TextData {
  /** As it is in the file: line endings, BOM, missing final newline. */
  readonly content: string;
  /** The middle of the range is left out, and one line in `content` says so. */
  readonly truncated: boolean;
  readonly total_lines: number;
  readonly start_line: number;
  /** Clamped to the file. An empty file is lines 1 to 0. */
  readonly end_line: number;
  /** The lines of which something is left out; the first and the last may be shown in part. */
  readonly left_out?: {readonly start_line: number; readonly end_line: number};
  /** The lines that were left out whole, to be asked for next. */
  readonly next?: {readonly start_line: number; readonly end_line: number};
}

export interface TextRead {
  readonly data: TextData;
  /** Of the whole file, also where a range was read: it opens the lock (W5). */
  readonly hash: ContentHash;
}

/**
 * W5: lines of a UTF-8 file. The file is streamed once, whatever the range, because the hash and
 * the number of lines are those of the whole; memory holds `maxBytes` of it.
 */
export async function readText(
  workspace: Pick<Workspace, 'openFile'>,
  path: WorkspacePath,
  options: ReadTextOptions,
): Promise<Result<TextRead>> {
  const opened = await workspace.openFile(path);
  if (!opened.ok) return opened;
  const range = {start: options.startLine ?? 1, end: options.endLine ?? Number.MAX_SAFE_INTEGER};
  const scan = new TextScan(range, options.maxBytes);
  try {
    const streamed = await readBlocks(opened.value, block => scan.add(block), options.deadline);
    if (!streamed.ok) return streamed;
  } finally {
    await opened.value.close();
  }
  if (!scan.utf8.finish()) return binaryFile(path, scan.utf8.invalidAt ?? 0);
  const total = scan.lines;
  const wrong = whyWrong(range, total);
  if (wrong !== undefined) {
    return fail('invalid_params', `${wrong.reason} ${quotePath(path)} has ${total} lines.`, {
      field: wrong.field,
      reason: wrong.reason,
      total_lines: total,
    });
  }
  return ok({
    data: present(scan.window, range.start, total),
    hash: scan.hasher.finish(),
  });
}

interface LineRange {
  readonly start: number;
  readonly end: number;
}

/** One pass: hash, UTF-8, lines, and the bytes of the range. */
class TextScan {
  readonly hasher = new ContentHasher();
  readonly utf8 = new Utf8Check();
  readonly window: RangeWindow;
  readonly #range: LineRange;
  #newlines = 0;
  #last = NEWLINE;

  constructor(range: LineRange, maxBytes: number) {
    this.#range = range;
    this.window = new RangeWindow(maxBytes);
  }

  get lines(): number {
    return this.#newlines + (this.#last === NEWLINE ? 0 : 1);
  }

  add(block: Uint8Array): boolean {
    if (!this.utf8.add(block)) return false;
    this.hasher.add(block);
    // Line n begins behind newline n - 1.
    const before = this.#range.start - 1;
    const until = this.#range.end;
    let newlines = this.#newlines;
    let from = newlines >= before ? 0 : block.length;
    let to = newlines >= until ? 0 : block.length;
    let inRange = newlines;
    let inRangeEnd = -1;
    for (let at = 0; at < block.length; at += 1) {
      if (block[at] !== NEWLINE) continue;
      newlines += 1;
      if (newlines === before) {
        from = at + 1;
        inRange = newlines;
      }
      if (newlines === until) {
        to = at + 1;
        inRangeEnd = newlines;
      }
    }
    if (from < to)
      this.window.add(block.subarray(from, to), (inRangeEnd === -1 ? newlines : inRangeEnd) - inRange);
    this.#newlines = newlines;
    this.#last = block[block.length - 1] ?? NEWLINE;
    return true;
  }
}

function whyWrong({start, end}: LineRange, total: number): {field: string; reason: string} | undefined {
  if (!(start >= 1))
    return {field: 'start_line', reason: `Expected start_line to be at least 1, got ${start}.`};
  if (!(end >= 1)) return {field: 'end_line', reason: `Expected end_line to be at least 1, got ${end}.`};
  if (start > end) {
    return {
      field: 'start_line',
      reason: `Expected start_line to be at most end_line, got ${start} and ${end}.`,
    };
  }
  // The first line of an empty file is where reading it begins, so 1 is no error there.
  if (start > Math.max(1, total)) {
    return {field: 'start_line', reason: `Expected start_line to be a line of the file, got ${start}.`};
  }
  return undefined;
}

function present(window: RangeWindow, start: number, total: number): TextData {
  const end = start + window.lines - 1;
  const {head, tail} = window.view(MAX_LINES);
  const lines = {total_lines: total, start_line: start, end_line: end};
  if (tail === undefined) return {content: decode(head), truncated: false, ...lines};
  const headEndsInLine = head.at(-1) !== NEWLINE;
  // The first and the last line of which something is left out; those left out whole are between.
  const first = start + count(head);
  const last = end - (count(tail.bytes) + (tail.bytes.at(-1) === NEWLINE ? 0 : 1)) + (tail.whole ? 0 : 1);
  const next = {start_line: headEndsInLine ? first + 1 : first, end_line: tail.whole ? last : last - 1};
  const bytes = window.bytes - head.length - tail.bytes.length;
  const what = first === last ? `line ${first}` : `lines ${first}-${last}`;
  const marker = `[… ${bytes} bytes of ${what} left out …]`;
  return {
    content: `${decode(head)}${headEndsInLine ? '\n' : ''}${marker}\n${decode(tail.bytes)}`,
    truncated: true,
    ...lines,
    left_out: {start_line: first, end_line: last},
    ...(next.start_line <= next.end_line ? {next} : {}),
  };
}

function count(bytes: Uint8Array): number {
  let newlines = 0;
  for (const byte of bytes) if (byte === NEWLINE) newlines += 1;
  return newlines;
}

/** Keeps a BOM: what is read has to be what is there. */
function decode(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', {ignoreBOM: true}).decode(bytes);
}

function binaryFile(path: WorkspacePath, offset: number): Result<never> {
  return fail(
    'binary_file',
    `${quotePath(path)} is not UTF-8 text: see byte ${offset}. Use run with a tool that understands the format.`,
    {path, offset},
  );
}
