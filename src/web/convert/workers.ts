// A thread or a process that does one job at a time and can be killed in the middle of it.

import {type ChildProcess, fork} from 'node:child_process';
import {existsSync} from 'node:fs';
import {Worker} from 'node:worker_threads';
import {systemClock} from '../../core/clock.ts';
import {packageFile} from '../../core/package-file.ts';
import type {ProblemReason} from '../extract/extract-html.ts';
import type {Job} from './jobs.ts';

type JobAnswer = {readonly value: unknown} | {readonly problem: string; readonly reason?: ProblemReason};

/** A thread cannot run TypeScript on Node 20, so in tests as everywhere it is the build's; in one file, which starts faster. */
const WORKER_ENTRY = 'dist/bin/worker.js';

/** Memory for one document: parse trees of a few hundred megabytes are the largest that come. */
const HEAP_MB = 1024;
/** The thread of a PDF, whose process has twice that for all. */
export const PDF_HEAP_MB = 256;
/** Room for new objects: what garbage takes of the memory of a large page (`npm run bench -- memory`). */
const YOUNG_MB = 2;

export interface ConversionWorker {
  /** False once it was killed or crashed; it takes no further job then. */
  readonly alive: boolean;
  readonly run: (job: Job) => Promise<JobAnswer>;
  /** It is gone when this resolves. */
  readonly kill: () => Promise<void>;
}

interface ThreadSettings {
  /** MiB: what needs more ends it. Default: 1,024. */
  readonly heapMb?: number;
  /** Whether it may change what holds for the whole process. Default: no. */
  readonly ownsProcess?: boolean;
}

/** What a thread starts with. */
export interface ThreadData {
  readonly ownsProcess: boolean;
}

export class WorkerThread implements ConversionWorker {
  readonly #worker: Worker;
  #settle: ((answer: JobAnswer) => void) | undefined;
  #dead = false;

  constructor({heapMb = HEAP_MB, ownsProcess = false}: ThreadSettings = {}) {
    const data: ThreadData = {ownsProcess};
    this.#worker = new Worker(packageFile(WORKER_ENTRY), {
      workerData: data,
      resourceLimits: {maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: YOUNG_MB},
      env: {},
    });
    this.#worker.on('message', (answer: JobAnswer) => this.#finish(answer));
    this.#worker.on('error', error => {
      this.#dead = true;
      this.#finish({problem: error instanceof Error ? error.message : String(error)});
    });
    this.#worker.on('exit', () => {
      this.#dead = true;
      this.#finish({problem: 'the worker thread ended'});
    });
    this.#worker.unref();
  }

  /** False once the thread was killed or crashed; it takes no further job then. */
  get alive(): boolean {
    return !this.#dead;
  }

  run(job: Job): Promise<JobAnswer> {
    return new Promise(resolve => {
      this.#settle = resolve;
      // An idle thread lets the process end, a busy one does not.
      this.#worker.ref();
      const [owned, given] = handedOver(job);
      this.#worker.postMessage(owned, given);
    });
  }

  async kill(): Promise<void> {
    this.#dead = true;
    await this.#worker.terminate();
  }

  #finish(answer: JobAnswer): void {
    this.#worker.unref();
    const settle = this.#settle;
    this.#settle = undefined;
    settle?.(answer);
  }
}

/** Bytes move to the thread. A view of a larger buffer is copied, or all of that buffer would go. */
function handedOver(job: Job): [job: Job, given: ArrayBuffer[]] {
  if (job.kind !== 'convert') return [job, []];
  const {buffer, byteLength} = job.bytes;
  const whole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  const bytes = whole ? job.bytes : Uint8Array.from(job.bytes);
  return [{...job, bytes}, [bytes.buffer as ArrayBuffer]];
}

/** As `worker.js`: the build's, and one file. */
const PDF_ENTRY = 'dist/bin/pdf-reader.js';

/** How long one PDF is read: others wait for its place, so it has less time than a call. */
export const PDF_MS = 8000;

const SHELL = '/bin/sh';
/**
 * Private memory of the process, in KiB, whoever asks for it. Node 24 itself takes more than 512 MiB of
 * it; within the limit, the reader stops at 512 MiB in use (`prepareThread`). macOS takes the limit and does not hold it, and Windows
 * has none; there the reader looks for itself (`prepareThread`). Nothing of a document is written to a core file.
 */
const BOUNDED = 'ulimit -c 0; ulimit -d 2097152; exec "$0" "$@"';

/**
 * One process that reads one PDF. A thread would not do: V8 ends the whole process for some allocations that a
 * stranger's document can ask for, whatever the limits of a thread are.
 */
export class PdfProcess implements ConversionWorker {
  readonly #child: ChildProcess;
  readonly #gone: Promise<void>;
  readonly #limitMs: number;
  #dead = false;
  #answer: ((answer: JobAnswer) => void) | undefined;

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
    this.#child = fork(packageFile(PDF_ENTRY), [], {
      env: {},
      // The shell becomes the process.
      ...(existsSync(SHELL)
        ? {execPath: SHELL, execArgv: ['-c', BOUNDED, process.execPath]}
        : {execArgv: []}),
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#child.on('message', answer => this.#finish(explained(answer as JobAnswer)));
    this.#gone = new Promise(resolve => {
      const end = (answer: JobAnswer): void => {
        this.#dead = true;
        this.#finish(answer);
        resolve();
      };
      this.#child.on('error', error => end({problem: error.message}));
      this.#child.on('exit', () => end(explained({problem: 'Reading it took more memory than there is.'})));
    });
  }

  get alive(): boolean {
    return !this.#dead;
  }

  run(job: Job): Promise<JobAnswer> {
    return new Promise(resolve => {
      const forget = systemClock.after(this.#limitMs, () =>
        this.#finish(explained({problem: `Reading it took longer than ${this.#limitMs / 1000} s.`})),
      );
      this.#answer = answer => {
        forget();
        resolve(answer);
      };
      this.#child.send(job, error => {
        if (error) this.#finish({problem: error.message});
      });
    });
  }

  async kill(): Promise<void> {
    this.#dead = true;
    // Its timer ends with it.
    this.#finish({problem: 'the process was ended'});
    this.#child.kill('SIGKILL');
    await this.#gone;
  }

  #finish(answer: JobAnswer): void {
    this.#answer?.(answer);
    this.#answer = undefined;
  }
}

/** What ends without a reason of its own ran into a limit. */
function explained(answer: JobAnswer): JobAnswer {
  return 'value' in answer ? answer : {reason: 'too_complex', ...answer};
}
