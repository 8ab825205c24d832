import type {Clock} from '../../../core/clock.ts';
import type {StartedCommand} from '../../../sandbox/sandbox.ts';
import {MAX_KEPT_BYTES, type Stream} from '../kept-output.ts';
import type {CommandEnd} from './command-end.ts';

const NEWLINE = 10;

export type OutputListener = (stream: Stream, bytes: Uint8Array) => void;

/** What is known of a command in the background when it has ended. */
export interface EndedCommand extends CommandEnd {
  readonly durationMs: number;
  /** The end of what it wrote, of the stream that a reader wants first. */
  readonly lastWords: string;
  readonly leftRunning: readonly string[];
  readonly repositories: readonly string[];
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
