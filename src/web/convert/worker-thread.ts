import {Worker} from 'node:worker_threads';
import {freeMemoryWhenIdle} from '../../core/memory/free-memory.ts';
import {packageFile} from '../../core/package-file.ts';
import type {ProblemReason} from '../extract/conversion-problem.ts';
import type {ConvertedDocument, Job, JobResults, SentDocument} from './jobs.ts';

export type JobAnswer =
  | {readonly value: unknown}
  | {readonly problem: string; readonly reason?: ProblemReason};

type ThreadAnswer =
  | {readonly value: JobResults[Job['kind']] | SentDocument}
  | Exclude<JobAnswer, {readonly value: unknown}>;

/** A thread cannot run TypeScript on Node 20, so in tests as everywhere it is the build's; in one file, which starts faster. */
const ENTRY = 'dist/bin/worker.js';

/** Memory for one document: parse trees of a few hundred megabytes are the largest that come. */
const HEAP_MB = 1024;
/** The thread of a PDF, which has a process of its own. */
export const PDF_HEAP_MB = 512;
/** Room for new objects: what garbage takes of the memory of a large page (`npm run bench -- memory`). */
const YOUNG_MB = 2;

/** What does one job at a time and can be killed in the middle of it. */
export interface ConversionWorker {
  /** False once it was killed or crashed; it takes no further job then. */
  readonly alive: boolean;
  readonly run: (job: Job) => Promise<JobAnswer>;
  /** It is gone when this resolves. */
  readonly kill: () => Promise<void>;
}

export interface ThreadSettings {
  /** MiB: what needs more ends it. Default: 1,024. */
  readonly heapMb?: number;
  /** Whether it may change what holds for the whole process. Default: no. */
  readonly ownsProcess?: boolean;
}

/** What a thread starts with. */
export interface ThreadData {
  readonly ownsProcess: boolean;
}

/** One thread that does one job at a time and can be killed in the middle of it. */
export class WorkerThread implements ConversionWorker {
  readonly #worker: Worker;
  #settle: ((answer: JobAnswer) => void) | undefined;
  #dead = false;

  constructor({heapMb = HEAP_MB, ownsProcess = false}: ThreadSettings = {}) {
    const data: ThreadData = {ownsProcess};
    this.#worker = new Worker(packageFile(ENTRY), {
      workerData: data,
      resourceLimits: {maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: YOUNG_MB},
      env: {},
    });
    this.#worker.on('message', (answer: ThreadAnswer) => this.#finish(received(answer)));
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

function received(answer: ThreadAnswer): JobAnswer {
  if (!('value' in answer)) return answer;
  const {value} = answer;
  return {value: 'plan' in value && 'markdown' in value ? receiveDocument(value) : value};
}

/** Bytes move to the thread. A view of a larger buffer is copied, or all of that buffer would go. */
function handedOver(job: Job): [job: Job, given: ArrayBuffer[]] {
  if (job.kind !== 'convert') return [job, []];
  const {buffer, byteLength} = job.bytes;
  const whole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  const bytes = whole ? job.bytes : Uint8Array.from(job.bytes);
  return [{...job, bytes}, [bytes.buffer as ArrayBuffer]];
}

/** What a thread has sent. Nothing that converts documents is loaded for it. */
function receiveDocument({markdown: bytes, document, ...rest}: SentDocument): ConvertedDocument {
  const markdown = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
  freeMemoryWhenIdle([bytes]);
  return {...rest, document: {markdown, ...document}};
}
