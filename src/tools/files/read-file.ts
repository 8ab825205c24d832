import {z} from 'zod';
import {ok, type Result} from '../../core/result.ts';
import {defineTool, type Tool} from '../../core/tool.ts';
import type {Deadline} from '../../workspace/deadline.ts';
import {limitCall} from '../../workspace/limit-call.ts';
import {readText, type TextRead} from '../../workspace/read/read-text.ts';
import type {SeenLines} from '../../workspace/seen-lines.ts';
import type {WorkspacePath} from '../../workspace/workspace-path.ts';
import {READING} from '../annotations.ts';
import {OUTER_MS} from '../outer-bound.ts';
import {outputLimit} from '../output-limit.ts';
import {schemaOf} from '../schema.ts';
import {readingIntent} from './reading-intent.ts';
import {lastShownLine, renderRead} from './render-read.ts';
import {suggestSimilar} from './suggest-similar.ts';
import type {WorkspaceSession} from './workspace-session.ts';

/** Tool API, read_file. */
const TIMEOUT_MS = 10_000;
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
  left_out: lineRange.exactOptional().describe('The lines of which something is left out.'),
  next: lineRange.exactOptional().describe('The lines that were left out, to be asked for next.'),
  line_numbers: z
    .literal(true)
    .exactOptional()
    .describe('The text has the number of each line; content has not.'),
});

export function readFileTool(session: WorkspaceSession): Tool {
  const {workspace, files, tracker, clock} = session;
  return defineTool({
    name: 'read_file',
    title: 'Read file',
    description:
      'Reads a UTF-8 text file, whole or in part; needed before str_replace or write_file changes it.',
    annotations: READING,
    params: schemaOf(params),
    data: schemaOf(data),
    badParams: 'invalid_params',
    action: undefined,
    maxOutputBytes: MAX_BYTES,
    timeoutMs: () => TIMEOUT_MS + OUTER_MS,
    intend: async ({path, start_line, end_line}) => {
      const resolved = workspace.resolve(path);
      if (!resolved.ok) return resolved;
      const isRange = start_line !== undefined || end_line !== undefined;
      const lines = isRange ? ` (lines ${start_line ?? 1}-${end_line ?? 'end'})` : '';
      return readingIntent(resolved.value, `read_file ${resolved.value}${lines}`);
    },
    execute: async ({path, start_line, end_line, line_numbers}, context) => {
      const resolved = workspace.resolve(path);
      if (!resolved.ok) return resolved;
      const {signal} = context;
      const read = await limitCall({tool: 'read_file', timeoutMs: TIMEOUT_MS, clock, signal}, deadline =>
        readFitting(
          resolved.value,
          {startLine: start_line, endLine: end_line},
          outputLimit(context),
          deadline,
        ),
      );
      if (!read.ok) return suggestSimilar(session, read, signal);
      const answer = {...read.value.data, ...(line_numbers === true && {line_numbers})};
      tracker.record(resolved.value, read.value.hash, seenIn(answer));
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
      const read = await readText(files, path, {...range, maxBytes, deadline});
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
