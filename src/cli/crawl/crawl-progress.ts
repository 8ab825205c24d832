import type {Clock} from '../../core/clock.ts';
import type {BatchRecord} from '../batch/batch-record.ts';
import {BatchTally} from '../batch/batch-tally.ts';
import {ProgressLine} from '../batch/progress-line.ts';
import type {Console} from '../console.ts';
import type {JobStatus} from '../toolbox-services.ts';
import type {CrawlRecord} from './crawl-record.ts';

/** How often the whole job is looked at, for all that are shown of it. */
const LOOK_MS = 2000;
/** For programs, a line this often. */
const LINE_MS = 10_000;

export interface ProgressDeps {
  readonly console: Console;
  readonly clock: Clock;
  readonly status: () => Promise<JobStatus | undefined>;
}

/** What one worker has done, and how the job stands meanwhile: a line that moves, or for programs one JSON line after another. */
export class CrawlProgress {
  readonly #deps: ProgressDeps;
  readonly #tally = new BatchTally();
  readonly #line: ProgressLine | undefined;
  readonly #start: number;
  #waiting = 0;
  #said = 0;
  #finishedThen = 0;
  #cancelTimer: () => void = () => {};
  #looking: Promise<void> = Promise.resolve();
  #ended = false;

  constructor(deps: ProgressDeps) {
    this.#deps = deps;
    const {console, clock} = deps;
    this.#start = clock.monotonic();
    this.#said = this.#start;
    const paused = (): number => this.#waiting;
    const queue = {
      get paused(): number {
        return paused();
      },
    };
    this.#line = console.interactive ? new ProgressLine(this.#tally, queue, console, clock) : undefined;
    this.#look();
  }

  add(record: CrawlRecord): void {
    this.#tally.add(asBatchRecord(record));
    this.#line?.update();
  }

  /** Takes the line away, for something else to be written. */
  clear(): void {
    this.#line?.clear();
  }

  async end(): Promise<ReturnType<BatchTally['summary']>> {
    this.#ended = true;
    this.#cancelTimer();
    await this.#looking;
    this.#line?.end();
    return this.#tally.summary(this.#deps.clock.monotonic() - this.#start);
  }

  #look(): void {
    if (this.#ended) return;
    this.#looking = this.#show().finally(() => {
      if (!this.#ended) this.#cancelTimer = this.#deps.clock.after(LOOK_MS, () => this.#look());
    });
  }

  async #show(): Promise<void> {
    const {clock, console, status} = this.#deps;
    const job = await status();
    const own = this.#tally.fetched + this.#tally.failed;
    if (job !== undefined) {
      this.#tally.listed = job.added;
      this.#tally.listRead = job.listed;
      this.#tally.skipped = Math.max(0, job.done + job.failed - own);
      this.#waiting = job.hosts.waiting;
    }
    this.#line?.update();
    const now = clock.monotonic();
    if (console.interactive || now - this.#said < LINE_MS) return;
    const rate = Math.round(((own - this.#finishedThen) / (now - this.#said)) * 10_000) / 10;
    this.#said = now;
    this.#finishedThen = own;
    const {fetched, failed} = this.#tally;
    const line = {fetched, failed, rate_per_sec: rate, errors: Object.fromEntries(this.#tally.errors()), job};
    // Whoever does not read progress any more is no reason to end the work.
    await console.out(`${JSON.stringify({progress: line})}\n`).catch(() => {});
  }
}

function asBatchRecord(record: CrawlRecord): BatchRecord {
  if (record.status === 'failed') return record;
  const {markdown, notes: _, ...page} = record;
  return {...page, file: '', bytes: Buffer.byteLength(markdown)};
}
