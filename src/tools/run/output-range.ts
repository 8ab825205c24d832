import {fail} from '../../core/failure/fail.ts';
import {ok, type Result} from '../../core/result.ts';
import {takeStart} from '../../core/text/take-start.ts';
import type {OpenArtifact} from '../../core/tool.ts';
import {cleanLine} from '../../sandbox/clean-line.ts';
import type {Deadline} from '../../workspace/deadline.ts';
import {outputLines} from './output-lines.ts';

export interface OutputSource {
  readonly file: OpenArtifact;
  /** It is the beginning of what was written. */
  readonly isCut: boolean;
  /** Its middle may be left out, and a line in it says so. */
  readonly mayBeMarked: boolean;
}

export interface LineRange {
  /** From 1, inclusive, like `end`. */
  readonly start: number;
  readonly end: number;
  /** Of the lines as JSON. */
  readonly maxBytes: number;
  readonly deadline: Deadline;
}

export interface ReadRange {
  readonly total_lines: number;
  readonly complete: boolean;
  readonly start_line: number;
  readonly end_line: number;
  readonly content: string;
  readonly truncated: boolean;
  readonly next?: {readonly start_line: number};
}

/** Of a line among others. */
export const MAX_LINE_CHARS = 2000;
export const LEFT_OUT = /^\[\.\.\. \d+ bytes left out \.\.\.\]$/;

/** Lines of an output from `start` on, as many as fit. A line that is asked for alone is shown as far as it fits. */
export async function outputRange(source: OutputSource, range: LineRange): Promise<Result<ReadRange>> {
  const {start, end, maxBytes, deadline} = range;
  const lines: string[] = [];
  let bytes = 0;
  let total = 0;
  let isFull = false;
  let isShortened = false;
  let isMarked = false;
  for await (const line of outputLines(source.file.blocks(), deadline)) {
    total += 1;
    if (source.mayBeMarked && LEFT_OUT.test(line)) isMarked = true;
    if (total < start || total > end || isFull) continue;
    const clean = cleanLine(line);
    const shown = shorten(clean, start === end ? clean.length : MAX_LINE_CHARS);
    const size = jsonBytes(shown);
    if (bytes + size <= maxBytes) {
      lines.push(shown);
      bytes += size;
      isShortened ||= shown !== clean;
      continue;
    }
    isFull = true;
    if (lines.length > 0) continue;
    lines.push(shortenTo(clean, maxBytes));
    isShortened = true;
  }
  if (deadline.spent) return deadline.failure();
  const wrong = whyWrong(start, end, total);
  if (wrong !== undefined) return wrong;
  const last = start + lines.length - 1;
  const hasMore = last < Math.min(end, total);
  return ok({
    total_lines: total,
    complete: !source.isCut && !isMarked,
    start_line: start,
    end_line: last,
    content: lines.map(line => `${line}\n`).join(''),
    truncated: hasMore || isShortened,
    ...(hasMore ? {next: {start_line: last + 1}} : {}),
  });
}

export function whyWrong(start: number, end: number, total: number): Result<never> | undefined {
  const reason =
    start > end
      ? `Expected start_line to be at most end_line, got ${start} and ${end}.`
      : start < 1 || start > Math.max(1, total)
        ? `Expected start_line to be a line of the output, got ${start}.`
        : undefined;
  if (reason === undefined) return undefined;
  return fail('invalid_params', `${reason} It has ${total} lines.`, {
    field: 'start_line',
    reason,
    total_lines: total,
  });
}

/** As a page shows it: the start of a long line, and how much is missing. */
export function shorten(line: string, maxChars = MAX_LINE_CHARS): string {
  if (line.length <= maxChars) return line;
  const start = takeStart(line, maxChars);
  return `${start} [… ${line.length - start.length} more characters]`;
}

function shortenTo(line: string, maxBytes: number): string {
  let shown = line;
  for (let chars = Math.min(line.length, maxBytes); jsonBytes(shown) > maxBytes && chars > 0; ) {
    shown = shorten(line, chars);
    chars = Math.floor(chars / 2);
  }
  return shown;
}

/** With the comma or the line break that follows. */
export function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) + 1;
}
