import type {Budget} from '../../core/budget.ts';
import {fail} from '../../core/failure/fail.ts';
import {ok, type Result} from '../../core/result.ts';
import {countedUnits} from '../chunk/token-counter.ts';
import {ConversionProblem, type ProblemReason} from '../extract/conversion-problem.ts';
import type {Job, JobResults} from './jobs.ts';
import {PdfProcess} from './pdf-process.ts';
import {type ConversionWorker, WorkerThread} from './worker-thread.ts';

export interface WorkerPoolSettings {
  /** Bytes of a document (for chunking, UTF-16 units of Markdown to count) from which on it leaves the event loop. */
  readonly threshold: Readonly<Record<Job['kind'], number>>;
  readonly maxThreads: number;
  /** Whether its threads may change what holds for the whole process. Default: no. */
  readonly ownsProcess?: boolean;
}

/** What was counted takes a fifth of the time, or less (`npm run bench -- offload`). */
const COUNTED = 4;

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
 * the others.
 */
export class WorkerPool {
  readonly #settings: WorkerPoolSettings;
  readonly #idle: ConversionWorker[] = [];
  readonly #workers = new Set<ConversionWorker>();
  readonly #waiting: (() => void)[] = [];
  #closed = false;

  constructor(settings: WorkerPoolSettings = DEFAULT_WORKER_POOL) {
    this.#settings = settings;
  }

  async run<Kind extends Job['kind']>(
    job: Extract<Job, {kind: Kind}>,
    budget: Budget,
  ): Promise<Result<JobResults[Kind]>> {
    budget.enter('extract');
    if (budget.spent) return budget.failure();
    if (sizeOf(job) < this.#settings.threshold[job.kind]) {
      try {
        return ok((await runHere(job)) as JobResults[Kind]);
      } catch (error) {
        const reason = error instanceof ConversionProblem ? error.reason : undefined;
        return extractionFailed(error instanceof Error ? error.message : String(error), reason);
      }
    }
    let worker: ConversionWorker | undefined;
    try {
      worker = await this.#acquire(budget, isPdf(job));
    } catch (error) {
      // The system has no thread to give.
      return extractionFailed(error instanceof Error ? error.message : String(error));
    }
    if (!worker) return budget.spent ? budget.failure() : extractionFailed('the toolbox was closed');
    const answer = await budget.race(worker.run(job));
    if (!answer.ok) {
      await this.#discard(worker);
      return answer;
    }
    if (worker instanceof WorkerThread && worker.alive) this.#release(worker);
    else await this.#discard(worker);
    return 'value' in answer.value
      ? ok(answer.value.value as JobResults[Kind])
      : extractionFailed(answer.value.problem, answer.value.reason);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const wake of this.#waiting.splice(0)) wake();
    await Promise.all([...this.#workers].map(worker => this.#discard(worker)));
  }

  async #acquire(budget: Budget, forPdf: boolean): Promise<ConversionWorker | undefined> {
    while (!this.#closed && !budget.spent) {
      const idle = this.#idle.pop();
      if (idle?.alive && !forPdf) return idle;
      if (idle) await this.#discard(idle);
      else if (this.#workers.size < this.#settings.maxThreads) {
        const worker = forPdf ? new PdfProcess() : new WorkerThread(this.#settings);
        this.#workers.add(worker);
        return worker;
      } else {
        let wake: () => void = () => {};
        await budget.race(
          new Promise<void>(resolve => {
            wake = resolve;
            this.#waiting.push(resolve);
          }),
        );
        const place = this.#waiting.indexOf(wake);
        if (place !== -1) this.#waiting.splice(place, 1);
      }
    }
    // A wake-up that came together with the deadline goes to the next in line.
    this.#waiting.shift()?.();
    return undefined;
  }

  #release(thread: WorkerThread): void {
    this.#idle.push(thread);
    this.#waiting.shift()?.();
  }

  async #discard(worker: ConversionWorker): Promise<void> {
    this.#workers.delete(worker);
    const place = this.#idle.indexOf(worker);
    if (place !== -1) this.#idle.splice(place, 1);
    await worker.kill();
    this.#waiting.shift()?.();
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

function sizeOf(job: Job): number {
  if (isPdf(job)) return Number.POSITIVE_INFINITY;
  if (job.kind === 'convert') return job.bytes.length;
  if (job.kind === 'read') return job.markdown.length + (job.earlier?.length ?? 0);
  const {length} = job.markdown;
  if (job.kind !== 'chunk') return length;
  const counted = job.counts ? countedUnits(job.counts, job.maxTokens) : 0;
  return length - counted + counted / COUNTED;
}

function extractionFailed(problem: string, kind?: ProblemReason) {
  const reason = problem.split('\n', 1)[0] ?? problem;
  return fail(
    'extraction_failed',
    `The document could not be converted: ${reason}. Try another version of it.`,
    {error: reason, ...(kind !== undefined && {reason: kind})},
  );
}
