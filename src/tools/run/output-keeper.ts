// Keeps outputs of commands in the run directory, and reads lines of them.
import type {Deadline} from '../../core/deadline.ts';
import {type Failure, fail, ok, type Result} from '../../core/result.ts';
import {takeStart} from '../../core/text/cut.ts';
import type {ArtifactStream, OpenArtifact, ToolContext} from '../../core/tool.ts';
import type {OutputSink} from '../../sandbox/output-capture.ts';
import {cleanLine, type OutputPreview, previewOutput} from '../../sandbox/preview-output.ts';
import type {Execution, SandboxCommand} from '../../sandbox/sandbox.ts';

export interface SavedOutput {
  readonly stdout: OutputPreview;
  readonly stderr: OutputPreview;
  readonly stdoutPath: string;
  readonly stderrPath: string;
  /** The call that shows more of it. */
  readonly howToRead: string;
}

/**
 * The output of one command in the run directory: the artifacts of ruling W9 and, beside one that lacks something,
 * the whole stream, so that `read_output` needs no second run.
 */
export class OutputKeeper {
  readonly spill: NonNullable<SandboxCommand['spill']>;
  readonly #context: ToolContext;
  readonly #streams: readonly ArtifactStream[];
  readonly #maxBytes: number;
  #isLong = false;

  /** `maxBytes`: of all that the session keeps whole. A listener gets everything as it comes, and so does the disk. */
  constructor(
    context: ToolContext,
    maxBytes: number,
    listener?: {readonly wrote: (stream: Stream, bytes: Uint8Array) => void},
  ) {
    this.#context = context;
    this.#maxBytes = maxBytes;
    const whole = (stream: Stream): ArtifactStream =>
      // One byte more says that there was more.
      context.streamArtifact(wholePath(context.step, stream), MAX_KEPT_BYTES + 1);
    const streams = {stdout: whole('stdout'), stderr: whole('stderr')};
    this.#streams = [streams.stdout, streams.stderr];
    const live = (stream: Stream): OutputSink => ({
      live: bytes => {
        streams[stream].write(bytes);
        listener?.wrote(stream, bytes);
      },
    });
    this.spill =
      listener === undefined
        ? {stdout: streams.stdout.write, stderr: streams.stderr.write}
        : {stdout: live('stdout'), stderr: live('stderr')};
  }

  /** A disk that is full takes nothing back of what the command did. */
  close(): void {
    for (const stream of this.#streams) {
      const kept = stream.finish();
      if (kept.ok) this.#isLong ||= kept.value !== undefined;
      else this.#warn('output_not_kept', kept.error);
    }
  }

  async save({stdout, stderr}: Pick<Execution, Stream>): Promise<Result<SavedOutput>> {
    const {step} = this.#context;
    const stdoutPath = await this.#context.saveArtifact(artifactPath(step, 'stdout'), stdout.bytes);
    if (!stdoutPath.ok) return stdoutPath;
    const stderrPath = await this.#context.saveArtifact(artifactPath(step, 'stderr'), stderr.bytes);
    if (!stderrPath.ok) return stderrPath;
    if (this.#isLong) {
      const trimmed = await this.#context.artifacts.trim(WHOLES, this.#maxBytes);
      if (!trimmed.ok) this.#warn('outputs_not_trimmed', trimmed.error);
    }
    const howToRead = `${READ_OUTPUT} step=${step}`;
    const search = 'query="…" searches them';
    return ok({
      stdout: previewOutput(stdout, `${howToRead} ${search}`),
      stderr: previewOutput(stderr, `${howToRead} stream=stderr ${search}`),
      stdoutPath: stdoutPath.value,
      stderrPath: stderrPath.value,
      howToRead,
    });
  }

  #warn(event: string, {code, message}: Failure): void {
    this.#context.log({level: 'warn', event, message, error_code: code});
  }
}

/** The tool that shows it. */
export const READ_OUTPUT = 'read_output';

/** Of one stream. */
export const MAX_KEPT_BYTES = 16 * 1024 * 1024;

export type Stream = 'stdout' | 'stderr';

const ARTIFACT = /^(?:tool_)?step_(\d{4,9})_std(?:out|err)\.txt$/;

/** Folder of the artifacts of ruling W9. */
export const ARTIFACTS = 'logs';

/** Ruling W9: at most 100 KiB of a stream. */
export function artifactPath(step: number, stream: Stream): string {
  return `${ARTIFACTS}/tool_step_${number(step)}_${stream}.txt`;
}

/** Folder of what is kept whole. */
export const WHOLES = 'output';

/** The whole of a stream, only where its artifact is not, and of a command in the background; empty once it had to make room for later ones. */
export function wholePath(step: number, stream: Stream): string {
  return `${WHOLES}/step_${number(step)}_${stream}.txt`;
}

/** The steps that were commands, by the names of the files of their output, in order. */
export function stepsOf(names: readonly string[]): readonly number[] {
  const steps = names.map(name => ARTIFACT.exec(name)?.[1]).filter(step => step !== undefined);
  return [...new Set(steps.map(Number))].sort((a, b) => a - b);
}

function number(step: number): string {
  return String(step).padStart(4, '0');
}

/**
 * The lines of an output, as text and without their line breaks. Ends where time is up, which the caller sees by
 * the deadline. What is no UTF-8 becomes replacement characters.
 */
export async function* outputLines(
  blocks: AsyncIterable<Uint8Array>,
  deadline: Deadline,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  // A line may be as long as the output: its parts are put together once.
  let parts: string[] = [];
  for await (const block of blocks) {
    if (deadline.spent) return;
    const [first = '', ...lines] = decoder.decode(block, {stream: true}).split('\n');
    parts.push(first);
    const last = lines.pop();
    if (last === undefined) continue;
    yield parts.join('');
    yield* lines;
    parts = [last];
  }
  parts.push(decoder.decode());
  const rest = parts.join('');
  if (rest !== '') yield rest;
}

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
