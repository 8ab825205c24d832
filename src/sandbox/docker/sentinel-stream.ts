// Finds the mark at which a command in Docker ends, in the stream of its output.

/** How much of what came instead of the mark is kept for an error. */
const MAX_WORDS = 4096;

/** Exit code, process that reports it, and what its shell says of the command. */
const REPORT = /^(\d{1,3}) (\d{1,10}) ([^;]*);/;
const MAX_REPORT = 512;

/**
 * Splits the standard error of a container's command: mark, what the command wrote, mark,
 * exit code, process that reports it and the state of the job (`0 17 [1] + Done;`), what others wrote after that. The sentinel is random, so no command has written it by chance.
 */
export class SentinelStream {
  readonly #sentinel: Buffer;
  readonly #sink: (chunk: Buffer) => void;
  readonly #onEnd: (reporter: number) => void;
  #state: 'before' | 'inside' | 'after' = 'before';
  /** What may be the beginning of a mark. */
  #held: Buffer = Buffer.alloc(0);
  #exitCode: number | undefined;
  #jobs: readonly string[] = [];

  constructor(sentinel: string, sink: (chunk: Buffer) => void, onEnd: (reporter: number) => void) {
    this.#sentinel = Buffer.from(sentinel);
    this.#sink = sink;
    this.#onEnd = onEnd;
  }

  get started(): boolean {
    return this.#state !== 'before';
  }

  /** Of the command, once it has ended by itself. */
  get exitCode(): number | undefined {
    return this.#exitCode;
  }

  /** What the shell around the command says of it. */
  get jobs(): readonly string[] {
    return this.#jobs;
  }

  /** What came instead of the first mark. */
  get words(): string {
    return this.started ? '' : this.#held.toString();
  }

  write(chunk: Buffer): void {
    if (this.#state === 'after') {
      this.#sink(chunk);
      return;
    }
    const bytes = Buffer.concat([this.#held, chunk]);
    const {length} = this.#sentinel;
    if (this.#state === 'inside') {
      this.#find(bytes);
    } else if (bytes.subarray(0, length).equals(this.#sentinel)) {
      this.#state = 'inside';
      this.#find(bytes.subarray(length));
    } else {
      this.#held = bytes.subarray(0, MAX_WORDS);
    }
  }

  /** Call it when nothing more comes. */
  finish(): void {
    if (this.#state === 'inside') this.#sink(this.#held);
  }

  #find(bytes: Buffer): void {
    const {length} = this.#sentinel;
    const at = bytes.indexOf(this.#sentinel);
    const behind = at < 0 ? '' : bytes.toString('latin1', at + length, at + length + MAX_REPORT);
    if (couldBecomeReport(behind)) {
      // A mark may have begun, or the end of its report is still to come.
      const held = at < 0 ? Math.max(0, bytes.length - length + 1) : at;
      this.#sink(bytes.subarray(0, held));
      this.#held = bytes.subarray(held);
      return;
    }
    this.#held = Buffer.alloc(0);
    this.#state = 'after';
    const report = REPORT.exec(behind);
    if (report === null) {
      // The command found the mark and wrote it itself.
      this.#sink(bytes);
      return;
    }
    const [whole, code, reporter, jobs = ''] = report;
    this.#jobs = jobs.split('\n');
    this.#exitCode = Number(code);
    this.#sink(bytes.subarray(0, at));
    this.#sink(bytes.subarray(at + length + whole.length));
    this.#onEnd(Number(reporter));
  }
}

function couldBecomeReport(text: string): boolean {
  return text.length < MAX_REPORT && /^(?:\d{0,3}|\d{1,3} \d{0,10}|\d{1,3} \d{1,10} [^;]*)$/.test(text);
}
