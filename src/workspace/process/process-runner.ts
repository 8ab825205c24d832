/** A program to run, with everything it gets. */
export interface ProcessRequest {
  /** An absolute path: nothing is looked up in a `PATH`. */
  readonly command: string;
  /** Handed over as they are; there is no shell. */
  readonly args: readonly string[];
  /** Working directory, absolute. */
  readonly cwd: string;
  /** The whole environment; nothing is inherited. Default: empty. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Without it, stdin is closed from the start. */
  readonly stdin?: Iterable<Uint8Array> | AsyncIterable<Uint8Array> | undefined;
  /** Given each part of stdout as it comes; `false` says that it is enough, and ends the process. */
  readonly onStdout: (part: Uint8Array) => boolean | undefined;
  /** More than this ends the process. */
  readonly maxStdoutBytes: number;
  /** Ends the process. */
  readonly signal: AbortSignal;
}

/** How a program came to its end. */
export type ProcessEnd =
  | {
      readonly end: 'exited';
      /** `null` where a signal killed it that was not ours. */
      readonly exitCode: number | null;
      /** The first 16 KiB. */
      readonly stderr: string;
      /** Why it did not read all of its input, where it did not. */
      readonly unread?: string;
    }
  /** Killed by us: the reader had enough, there was too much, or the call was aborted. */
  | {readonly end: 'stopped' | 'capped' | 'aborted'}
  | {
      /** `broken`: a pipe to or from it failed, so that something of its input or output is missing. */
      readonly end: 'not_started' | 'broken';
      /** The code of the operating system. */
      readonly error: string;
    };

/** The port (ADR 08) through which tools run programs. Nothing that a program started outlives `run`. */
export interface ProcessRunner {
  /** Resolves when the program has ended; never rejects. */
  readonly run: (request: ProcessRequest) => Promise<ProcessEnd>;
}
