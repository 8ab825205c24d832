// One command in the background: its output so far, and its end.
import type {Clock} from '../../core/clock.ts';
import {type Failure, ok, type Result} from '../../core/result.ts';
import type {RunOutcome, StartedCommand} from '../../sandbox/sandbox.ts';
import {MAX_KEPT_BYTES, type OutputSource, type ReadRange, type Stream} from './output-keeper.ts';

const NEWLINE = 10;

type OutputListener = (stream: Stream, bytes: Uint8Array) => void;

/** What is known of a command in the background when it has ended. */
export interface EndedCommand extends CommandEnd {
  readonly durationMs: number;
  /** The end of what it wrote, of the stream that a reader wants first. */
  readonly lastWords: string;
  readonly leftRunning: readonly string[];
  readonly repositories: readonly string[];
  readonly gitSettings: readonly string[];
}

/** A command that outlives its call: what it has written so far, how much of it was shown, and its end. */
export class BackgroundCommand {
  readonly step: number;
  readonly command: string;
  /** Resolves when its output is saved and its end is in the log. */
  readonly whenEnded: Promise<EndedCommand>;
  /** Lines of each stream that were shown to the caller. */
  readonly shown: Record<Stream, number> = {stdout: 0, stderr: 0};
  started: StartedCommand | undefined;
  /** Once it has ended. */
  end: EndedCommand | undefined;
  readonly #clock: Clock;
  readonly #startedAt: number;
  readonly #listeners = new Set<OutputListener>();
  readonly #newlines: Record<Stream, number> = {stdout: 0, stderr: 0};
  readonly #bytes: Record<Stream, number> = {stdout: 0, stderr: 0};
  readonly #endsInLine: Record<Stream, boolean> = {stdout: false, stderr: false};
  readonly #controller = new AbortController();
  #finish: (end: EndedCommand) => void = () => {};

  constructor({step, command, clock}: {step: number; command: string; clock: Clock}) {
    this.step = step;
    this.command = command;
    this.#clock = clock;
    this.#startedAt = clock.monotonic();
    this.whenEnded = new Promise(resolve => {
      this.#finish = resolve;
    });
  }

  /** Fires when it is to end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get runningMs(): number {
    return this.#clock.monotonic() - this.#startedAt;
  }

  /** Ends it with all that it started, and says how it ended. */
  stop(): Promise<EndedCommand> {
    this.#controller.abort();
    return this.whenEnded;
  }

  finish(end: EndedCommand): void {
    this.end = end;
    this.#finish(end);
  }

  /** Lines written so far, as far as they are kept; the last one may not be complete. */
  linesOf(stream: Stream): number {
    return this.#newlines[stream] + (this.#endsInLine[stream] ? 1 : 0);
  }

  /** Bytes written so far that are kept. */
  bytesOf(stream: Stream): number {
    return this.#bytes[stream];
  }

  /** Hears what is written from now on. The value stops that. */
  listen(listener: OutputListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** To be called with everything that it writes, once that is kept. */
  wrote(stream: Stream, bytes: Uint8Array): void {
    const kept = bytes.subarray(0, MAX_KEPT_BYTES - this.#bytes[stream]);
    this.#bytes[stream] += kept.length;
    for (let at = kept.indexOf(NEWLINE); at !== -1; at = kept.indexOf(NEWLINE, at + 1)) {
      this.#newlines[stream] += 1;
    }
    if (kept.length > 0) this.#endsInLine[stream] = kept.at(-1) !== NEWLINE;
    for (const listener of this.#listeners) listener(stream, bytes);
  }
}

/** How a command in the background came to its end. */
interface CommandEnd {
  /** `stopped`: by `stop_run`, or with the session. `failed`: the sandbox broke under it. */
  readonly ended: 'exited' | 'killed' | 'out_of_memory' | 'out_of_time' | 'stopped' | 'failed';
  readonly exitCode?: number;
  readonly signal?: string;
  readonly failure?: Failure;
}

export function commandEnd(ran: Result<RunOutcome>): CommandEnd {
  if (!ran.ok) return {ended: 'failed', failure: ran.error};
  const {exitStatus} = ran.value;
  switch (exitStatus.kind) {
    case 'exited':
      return {ended: 'exited', exitCode: exitStatus.code};
    case 'killed':
      return {
        ended: exitStatus.outOfMemory ? 'out_of_memory' : 'killed',
        exitCode: exitStatus.code,
        signal: exitStatus.signal,
      };
    case 'timeout':
      return {ended: 'out_of_time'};
    case 'cancelled':
      return {ended: 'stopped'};
  }
}

type ShownLines = Pick<ReadRange, 'start_line' | 'end_line' | 'total_lines'>;

interface FollowedOutput {
  /** The first line that was not shown yet. */
  readonly start: number;
  /** The answer where there is no such line. */
  readonly nothingNew: Result<ReadRange> | undefined;
  /** The same, and it is noticed how it ends. */
  readonly source: OutputSource;
  /** To be called with what is shown: a line that is not complete is shown again. */
  readonly shown: (range: ShownLines) => void;
}

/** W21: what a command in the background has written since it was last looked at. */
export function followOutput(
  command: BackgroundCommand,
  stream: Stream,
  source: OutputSource,
): FollowedOutput {
  const start = command.shown[stream] + 1;
  let endsInLine = false;
  const {file} = source;
  const blocks = async function* (from?: number) {
    for await (const block of file.blocks(from)) {
      if (block.length > 0) endsInLine = block.at(-1) !== NEWLINE;
      yield block;
    }
  };
  const lines = command.linesOf(stream);
  return {
    start,
    nothingNew:
      lines >= start
        ? undefined
        : ok({
            total_lines: lines,
            complete: !source.isCut,
            start_line: start,
            end_line: lines,
            content: '',
            truncated: false,
          }),
    source: {...source, file: {...file, blocks}},
    shown: ({start_line, end_line, total_lines}) => {
      // A reader that asks for a later part has not seen the lines before it.
      if (start_line > command.shown[stream] + 1) return;
      const isOpen = command.end === undefined && endsInLine && end_line === total_lines;
      command.shown[stream] = Math.max(command.shown[stream], isOpen ? end_line - 1 : end_line);
    },
  };
}

/** Longer than what is looked for, which is within one line. */
const LONGEST_REST = 16_384;

/** Finds a text in what comes in parts, also where it lies across two of them. */
export class LineFinder {
  readonly #text: string;
  readonly #decoder = new TextDecoder();
  /** The line that is not complete yet, or the end of a long one. */
  #rest = '';

  constructor(text: string) {
    this.#text = text;
  }

  /** The line that has it, as far as it is there. */
  find(bytes: Uint8Array): string | undefined {
    const text = this.#rest + this.#decoder.decode(bytes, {stream: true});
    const at = text.indexOf(this.#text);
    if (at !== -1) {
      const end = text.indexOf('\n', at);
      return text.slice(text.lastIndexOf('\n', at) + 1, end === -1 ? undefined : end);
    }
    this.#rest = text.slice(text.lastIndexOf('\n') + 1).slice(-LONGEST_REST);
    return undefined;
  }
}
