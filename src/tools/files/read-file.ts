// The tool read_file: shows lines of a text file, and remembers which were shown.

import {z} from 'zod';
import type {Deadline} from '../../core/deadline.ts';
import {ok, type Result} from '../../core/result.ts';
import {takeStart} from '../../core/text/cut.ts';
import type {Tool} from '../../core/tool.ts';
import {readText, type TextRead} from '../../workspace/read-text.ts';
import type {SeenLines} from '../../workspace/read-tracker.ts';
import type {WorkspacePath} from '../../workspace/workspace-path.ts';
import {outputLimit, readingTool} from '../define-tool.ts';
import type {WorkspaceSession} from './session.ts';

/** W12: bytes of an answer where the caller does not say otherwise. */
const MAX_BYTES = 1_048_576;
/** Escapes make JSON longer than its text, by a factor that is known once it is written. */
const FITTINGS = 4;
/** A control character is written as `\u0001`. */
const LONGEST_ESCAPE = 6;
/** The answer without its text, and the line that marks the cut. */
const FRAME_BYTES = 430;

// Ruling W5: that the lines are in the file is checked where their number is known, so zod sees integers only.
const params = z.strictObject({
  path: z.string().min(1).describe('Relative to the workspace.'),
  start_line: z.int().optional().describe('First line, from 1.'),
  end_line: z.int().optional().describe('Last line, inclusive.'),
  line_numbers: z.boolean().optional().describe('Number the lines of the text.'),
});

const lineRange = z.object({start_line: z.int(), end_line: z.int()});

const data = z.object({
  content: z.string().describe('As it is in the file, line endings included.'),
  truncated: z.boolean().describe('The middle is left out; a line in content says so.'),
  total_lines: z.int().describe('Of the whole file.'),
  start_line: z.int(),
  end_line: z.int(),
  left_out: lineRange.exactOptional().describe('Lines with a part left out.'),
  next: lineRange.exactOptional().describe('The lines that were left out, to be asked for next.'),
  line_numbers: z
    .literal(true)
    .exactOptional()
    .describe('The text has the number of each line; content has not.'),
});

export function readFileTool(session: WorkspaceSession): Tool {
  const {workspace, tracker} = session;
  return readingTool(session, {
    name: 'read_file',
    title: 'Read file',
    description:
      'Reads a UTF-8 text file, whole or in part; needed before str_replace or write_file changes it.',
    params,
    data,
    maxOutputBytes: MAX_BYTES,
    timeoutMs: 10_000,
    path: ({path}) => path,
    summary: ({start_line, end_line}, path) => {
      const isRange = start_line !== undefined || end_line !== undefined;
      return `${path}${isRange ? ` (lines ${start_line ?? 1}-${end_line ?? 'end'})` : ''}`;
    },
    read: async (path, {start_line, end_line, line_numbers}, context, deadline) => {
      const range = {startLine: start_line, endLine: end_line};
      const read = await readFitting(path, range, outputLimit(context), deadline);
      if (!read.ok) return read;
      const answer = {...read.value.data, ...(line_numbers === true && {line_numbers})};
      tracker.record(path, read.value.hash, seenIn(answer));
      return ok(answer);
    },
    renderText: renderRead,
  });

  /** So many bytes of it that its JSON fits; the line that marks the cut stays, which a later cut would lose. */
  async function readFitting(
    path: WorkspacePath,
    range: {readonly startLine: number | undefined; readonly endLine: number | undefined},
    limit: number,
    deadline: Deadline,
  ): Promise<Result<TextRead>> {
    let maxBytes = limit;
    for (let fitting = 1; ; fitting += 1) {
      const read = await readText(workspace, path, {...range, maxBytes, deadline});
      if (!read.ok || fitting > FITTINGS) return read;
      const bytes = Buffer.byteLength(JSON.stringify(read.value.data));
      if (bytes <= limit) return read;
      const shown = Math.min(maxBytes, Buffer.byteLength(read.value.data.content));
      const scaled = (shown * limit) / bytes - FRAME_BYTES;
      // Whatever the text, this fits.
      const certain = (limit - FRAME_BYTES) / LONGEST_ESCAPE;
      maxBytes = Math.max(1, Math.floor(fitting < FITTINGS ? scaled : certain));
    }
  }
}

/**
 * W6: the lines that the text shows; a change may say that it replaced others. Not those that only `data` has: which of
 * the two a model gets is its client's choice, and the text is the shorter one.
 */
function seenIn(answer: z.infer<typeof data>): SeenLines {
  const {start_line, total_lines} = answer;
  const last = lastShownLine(answer);
  return start_line === 1 && last === total_lines ? 'all' : [[start_line, last]];
}

interface ReadAnswer {
  readonly content: string;
  readonly total_lines: number;
  readonly start_line: number;
  readonly end_line: number;
  readonly left_out?: {readonly start_line: number; readonly end_line: number} | undefined;
  readonly line_numbers?: true | undefined;
}

/** Characters of lines; the header comes on top. Hosts cut or refuse texts that are much longer. */
const LONGEST_TEXT = 39_000;
const LONGEST_LINE = 2000;

/**
 * W17: whole lines from the first one that was asked for, as far as there is room, under a header that says which
 * they are and how to go on. A very long line is shown in part.
 */
export function renderRead(answer: ReadAnswer): string {
  const {start_line, end_line, total_lines, content} = answer;
  const {shown, next: line} = shownLines(answer);
  if (line > end_line) {
    const lastBreak = content.endsWith('\n') ? '\n' : '';
    return `[lines ${start_line}-${end_line} of ${total_lines}]\n${shown.join('\n')}${lastBreak}`;
  }
  if (shown.length > 0) {
    return `[lines ${start_line}-${line - 1} of ${total_lines}; next: start_line=${line}]\n${shown.join('\n')}\n`;
  }
  // The first line alone is longer than an answer may be.
  const further = line < end_line ? `; next: start_line=${line + 1}` : '';
  const part = shownLine(content.split('\n')[0] ?? '', answer, line);
  return `[a part of line ${line} of ${total_lines}, which is too long to be shown whole${further}]\n${part}\n`;
}

/** The last line that the text shows; one less than the first where it shows none as a whole. */
export function lastShownLine(answer: ReadAnswer): number {
  return shownLines(answer).next - 1;
}

interface ShownLines {
  readonly shown: readonly string[];
  /** The first line behind them. */
  readonly next: number;
}

function shownLines(answer: ReadAnswer): ShownLines {
  const {start_line, end_line, left_out, content} = answer;
  // Of what is left out nothing is shown, nor of what comes behind it.
  const lastWhole = left_out === undefined ? end_line : left_out.start_line - 1;
  const lines = content.split('\n');
  const shown: string[] = [];
  let room = LONGEST_TEXT;
  let line = start_line;
  for (; line <= lastWhole; line += 1) {
    const text = shownLine(lines[line - start_line] ?? '', answer, line);
    if (text.length > room && shown.length > 0) break;
    shown.push(text);
    room -= text.length + 1;
  }
  return {shown, next: line};
}

function shownLine(text: string, {end_line, line_numbers}: ReadAnswer, line: number): string {
  const number = line_numbers ? `${String(line).padStart(String(end_line).length)}\t` : '';
  if (text.length <= LONGEST_LINE) return `${number}${text}`;
  const start = takeStart(text, LONGEST_LINE);
  return `${number}${start} [… ${(text.length - start.length).toLocaleString('en')} more characters]`;
}
