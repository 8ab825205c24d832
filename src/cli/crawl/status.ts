// Shows how a crawl stands: the line of a worker, and the status of a job.
import type {Clock} from '../../core/clock.ts';
import {BatchTally} from '../batch/outcome.ts';
import {ProgressLine} from '../batch/progress.ts';
import {type Console, styled} from '../console.ts';
import {groupDigits, humanDuration} from '../text-layout.ts';
import type {JobStatus} from '../toolbox-services.ts';
import type {CrawlRecord} from './export-results.ts';

/** How often the whole job is looked at, for all that are shown of it. */
const LOOK_MS = 2000;
/** For programs, a line this often. */
const LINE_MS = 10_000;

interface ProgressDeps {
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
    this.#line = console.interactive ? new ProgressLine(this.#tally, this, console, clock) : undefined;
    this.#look();
  }

  /** Hosts that wait. */
  get paused(): number {
    return this.#waiting;
  }

  add(record: CrawlRecord): void {
    this.#tally.add(record.status === 'ok' ? {...record, bytes: Buffer.byteLength(record.markdown)} : record);
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

/** How a job stands, for a person. */
export function renderStatus(job: string, status: JobStatus, console: Console): string {
  const {state, listed, added, pending, leased, later, done, failed, expired, hosts, errors} = status;
  const {settings} = status;
  const finished = done + failed;
  const share = added === 0 ? 0 : Math.floor((finished / added) * 100);
  const lines = [
    styled(
      console,
      'bold',
      `${job}: ${state}, ${groupDigits(finished)} of ${groupDigits(added)} (${share}%)`,
    ),
    `  ${groupDigits(pending)} wait, ${groupDigits(leased)} with workers, ${groupDigits(later)} to be tried again`,
    `  ${groupDigits(done)} fetched, ${groupDigits(failed)} failed`,
  ];
  const codes = Object.entries(errors).map(([code, times]) => `${code} ${groupDigits(times)}`);
  if (codes.length > 0) lines.push(`  failures, later tries included: ${codes.join(', ')}`);
  lines.push(
    `  hosts: ${groupDigits(hosts.ready)} may be asked now, ${groupDigits(hosts.waiting)} wait, ${groupDigits(hosts.active)} are being asked${hosts.aside > 0 ? `, ${groupDigits(hosts.aside)} given up` : ''}`,
  );
  if (expired > 0)
    lines.push(
      `  ${groupDigits(expired)} leases ended without a word: workers were killed, or took too long`,
    );
  if (!listed && state !== 'cancelled') {
    lines.push(
      '  The list was not read to its end. If no "crawl start" is running, start it again with the same list.',
    );
  }
  lines.push(
    `  a gap of ${groupDigits(settings.gap_ms)} ms, ${groupDigits(settings.per_host)} at once for each host; started ${humanDuration(status.age_ms)} ago`,
  );
  return `${lines.join('\n')}\n`;
}
