// Runs a job in place or in a thread, by its price, within its deadline. PDFs go to a process of their own.

import type {Deadline} from '../../core/deadline.ts';
import {fail, ok, type Result} from '../../core/result.ts';
import {nextTurn} from '../../system/errors.ts';
import {ConversionProblem, type ProblemReason} from '../extract/extract-html.ts';
import type {ConvertJob, Job, JobResults} from './jobs.ts';
import {type ConversionWorker, PDF_MS, PdfProcess, WorkerThread} from './workers.ts';

export interface WorkerPoolSettings {
  /** The price (`priceOf`) from which on a job leaves the event loop. */
  readonly threshold: Readonly<Record<Job['kind'], number>>;
  /** Without the process of a PDF, which has a place of its own. */
  readonly maxThreads: number;
  /** How long a PDF is read before it counts as too complex. Default: `PDF_MS`. */
  readonly pdfMs?: number;
  /** Whether its threads may change what holds for the whole process. Default: no. */
  readonly ownsProcess?: boolean;
}

/**
 * `npm run bench -- offload`, November 2026, ms of one core: HTML to chunks takes 1.7 for 32 KiB and 4.1 for 64,
 * Markdown to chunks 0.8 and 2.3, and handing a document over 0.1 to 1.5 more. So what is smaller gains nothing
 * by it. At its worst (random letters) chunking 64 KiB takes 100, the longest that a page holds up the others.
 */
export const DEFAULT_WORKER_POOL: WorkerPoolSettings = {
  // Reading a megabyte takes 40 to 114 (`node bench/reading/run.js`, November 2026).
  threshold: {convert: 32_768, chunk: 65_536, read: 32_768, quote: 32_768},
  maxThreads: 2,
};

/**
 * Ruling C3: parsing, extraction and chunking count against the deadline. Small documents are done
 * in place; others in a thread that the deadline kills, so that no page can hold a call or stall
 * the others. Heavy ones never take the last thread, and PDFs wait for each other only.
 */
export class WorkerPool {
  readonly #settings: WorkerPoolSettings;
  readonly #idle: ConversionWorker[] = [];
  readonly #workers = new Set<ConversionWorker>();
  readonly #threads: Semaphore;
  readonly #heavy: Semaphore;
  readonly #pdfs = new Semaphore(1);

  constructor(settings: WorkerPoolSettings = DEFAULT_WORKER_POOL) {
    this.#settings = settings;
    this.#threads = new Semaphore(settings.maxThreads);
    this.#heavy = new Semaphore(Math.max(1, settings.maxThreads - 1));
  }

  async run<Kind extends Job['kind']>(
    job: Extract<Job, {kind: Kind}>,
    budget: Deadline,
  ): Promise<Result<JobResults[Kind]>> {
    budget.enter('extract');
    if (budget.spent) return budget.failure();
    const price = priceOf(job);
    if (!isPdf(job) && price < this.#settings.threshold[job.kind]) {
      // A call has a job or two, and others wait for one of them at most.
      await nextTurn();
      if (budget.spent) return budget.failure();
      try {
        return ok((await runHere(job)) as JobResults[Kind]);
      } catch (error) {
        const reason = error instanceof ConversionProblem ? error.reason : undefined;
        return extractionFailed(error instanceof Error ? error.message : String(error), reason);
      }
    }
    const needed = isPdf(job) ? [this.#pdfs] : price < HEAVY ? [this.#threads] : [this.#heavy, this.#threads];
    const taken: Semaphore[] = [];
    try {
      for (const places of needed) {
        if (await places.take(budget)) taken.push(places);
        else return budget.spent ? budget.failure() : extractionFailed('the toolbox was closed');
      }
      return (await this.#runAway(job, budget)) as Result<JobResults[Kind]>;
    } finally {
      for (const places of taken) places.release();
    }
  }

  async close(): Promise<void> {
    for (const places of [this.#threads, this.#heavy, this.#pdfs]) places.close();
    await Promise.all([...this.#workers].map(worker => this.#discard(worker)));
  }

  /** In a thread or a process, which is gone or idle when this returns. */
  async #runAway(job: Job, budget: Deadline): Promise<Result<JobResults[Job['kind']]>> {
    let worker: ConversionWorker;
    try {
      worker = this.#workerFor(job);
    } catch (error) {
      // The system has no thread to give.
      return extractionFailed(error instanceof Error ? error.message : String(error));
    }
    const answer = await budget.race(worker.run(job));
    if (answer.ok && worker instanceof WorkerThread && worker.alive) this.#idle.push(worker);
    else await this.#discard(worker);
    if (!answer.ok) return answer;
    return 'value' in answer.value
      ? ok(answer.value.value as JobResults[Job['kind']])
      : extractionFailed(answer.value.problem, answer.value.reason);
  }

  #workerFor(job: Job): ConversionWorker {
    while (!isPdf(job) && this.#idle.length > 0) {
      const idle = this.#idle.pop();
      if (idle?.alive) return idle;
      if (idle) this.#workers.delete(idle);
    }
    const worker = isPdf(job)
      ? new PdfProcess(this.#settings.pdfMs ?? PDF_MS)
      : new WorkerThread(this.#settings);
    this.#workers.add(worker);
    return worker;
  }

  async #discard(worker: ConversionWorker): Promise<void> {
    this.#workers.delete(worker);
    const place = this.#idle.indexOf(worker);
    if (place !== -1) this.#idle.splice(place, 1);
    await worker.kill();
  }
}

/** Semaphore for jobs at once. One that is given back goes to whoever has waited longest. */
class Semaphore {
  #free: number;
  #closed = false;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** False where the time ran out first, or the pool was closed. */
  async take(budget: Deadline): Promise<boolean> {
    if (this.#closed || budget.spent) return false;
    if (this.#free > 0) {
      this.#free -= 1;
      return true;
    }
    let turn: () => void = () => {};
    await budget.race(
      new Promise<void>(resolve => {
        turn = resolve;
        this.#waiting.push(resolve);
      }),
    );
    const at = this.#waiting.indexOf(turn);
    if (at !== -1) this.#waiting.splice(at, 1);
    else if (!this.#closed && budget.spent) this.release();
    return at === -1 && !this.#closed && !budget.spent;
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free += 1;
  }

  close(): void {
    this.#closed = true;
    for (const turn of this.#waiting.splice(0)) turn();
  }
}

/** The parser and all behind it are loaded by the first document that needs it. */
async function runHere(job: Job): Promise<JobResults[Job['kind']]> {
  switch (job.kind) {
    case 'chunk':
      return (await import('./plan-job.ts')).runChunkJob(job);
    case 'read':
      return (await import('./read-job.ts')).runReadJob(job);
    case 'quote':
      return (await import('./read-job.ts')).runQuoteJob(job);
    case 'convert':
      return (await import('./jobs.ts')).runJob(job);
  }
}

/** Ruling R3: done in a process of its own, whatever its size. */
function isPdf(job: Job): boolean {
  return job.kind === 'convert' && job.media === 'pdf';
}

function extractionFailed(problem: string, kind?: ProblemReason) {
  const reason = problem.split('\n', 1)[0] ?? problem;
  return fail(
    'extraction_failed',
    `The document could not be converted: ${reason}. Try another version of it.`,
    {error: reason, ...(kind !== undefined && {reason: kind})},
  );
}

/** From here on a job is heavy: it takes a second or more if its document is made for that. */
const HEAVY = 1_048_576;

/**
 * Bytes of plain HTML that a `<` stands for: what opens or closes an element costs more than text. Where nothing is
 * compiled yet, a `<` of HTML takes up to 40 µs, and one of a feed 80, as each entry is a document (November 2026).
 */
const MARKUP: Readonly<Partial<Record<ConvertJob['media'], number>>> = {html: 16, feed: 32};
const LESS_THAN = 0x3c;

/** What the work on a document costs, in bytes of plain HTML (of Markdown for other jobs) that cost the same. */
export function priceOf(job: Job): number {
  switch (job.kind) {
    case 'convert':
      return conversionPrice(job);
    case 'read':
      return job.markdown.length + (job.earlier?.length ?? 0);
    case 'quote':
      return job.markdown.length * job.quotes.length;
    case 'chunk':
      return job.markdown.length;
  }
}

/** Above `HEAVY` it is not counted to the end. */
function conversionPrice({bytes, media}: ConvertJob): number {
  const each = MARKUP[media];
  if (each === undefined) return bytes.length;
  let price = 0;
  for (let at = bytes.indexOf(LESS_THAN); at >= 0 && price < HEAVY; at = bytes.indexOf(LESS_THAN, at + 1)) {
    price += each;
  }
  return Math.max(price, bytes.length);
}
