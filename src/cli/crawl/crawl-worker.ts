import type {Clock} from '../../core/clock.ts';
import {fail} from '../../core/failure/fail.ts';
import type {Failure} from '../../core/failure/failure.ts';
import {ok, type Result} from '../../core/result.ts';
import type {Frontier, FrontierUrl, LeasedUrl, Taken} from '../toolbox-services.ts';
import type {CrawlRecord} from './crawl-record.ts';
import {type Ended, type FetchLeasedDeps, fetchLeased} from './fetch-leased.ts';

/** Of one step of the engine. */
const MOST_AT_ONCE = 200;
/** Before the end of a lease, so that a request is over when another worker may send it again. */
const LEASE_MARGIN = 0.1;
const LONGEST_RETRY_MS = 5000;
const FIRST_RETRY_MS = 200;

export interface CrawlWorkerDeps extends FetchLeasedDeps {
  readonly frontier: Frontier;
  readonly append: (records: readonly CrawlRecord[]) => Promise<Result<undefined>>;
  /** Pages at the same time. */
  readonly concurrency: number;
  readonly clock: Clock;
  /** Ends the work: what is under way is given back. */
  readonly signal: AbortSignal;
  readonly onRecord: (record: CrawlRecord) => void;
  /** What a person should know, said once until it changes. */
  readonly onState: (state: 'working' | 'paused' | 'gone' | 'unreachable') => void;
}

export interface WorkEnd {
  readonly state: 'finished' | 'cancelled' | 'interrupted';
  /** Ends that came after the lease; another worker has the address. */
  readonly late: number;
  /** Links that the job had no room for. */
  readonly dropped: number;
}

/**
 * Takes addresses while there are any, fetches them, keeps what became of them, and tells the engine, in this order: what
 * the engine takes for done is on the disk. While the engine is away, it finishes what it has and takes nothing.
 */
export async function workCrawl(deps: CrawlWorkerDeps): Promise<Result<WorkEnd>> {
  return new CrawlWorker(deps).run();
}

class CrawlWorker {
  readonly #deps: CrawlWorkerDeps;
  readonly #active = new Map<AbortController, Promise<void>>();
  readonly #ended: Ended[] = [];
  /** On the disk, and not told to the engine yet. */
  #untold: Ended[] = [];
  #wake: () => void = () => {};
  #retryMs = FIRST_RETRY_MS;
  #takeAt = 0;
  #isAway = false;
  #isStopped = false;
  #late = 0;
  #dropped = 0;
  #wasThere = false;
  #bug: {readonly error: unknown} | undefined;

  constructor(deps: CrawlWorkerDeps) {
    this.#deps = deps;
  }

  async run(): Promise<Result<WorkEnd>> {
    const {signal, clock} = this.#deps;
    const stop = (): void => this.#stop();
    signal.addEventListener('abort', stop, {once: true});
    if (signal.aborted) stop();
    try {
      for (;;) {
        const woken = new Promise<void>(resolve => {
          this.#wake = resolve;
        });
        const told = await this.#tell();
        if (this.#bug !== undefined) throw this.#bug.error;
        if (typeof told !== 'boolean') return {ok: false, error: told};
        if (this.#isStopped) {
          // What the engine is not told, it learns by the end of the lease.
          if (this.#active.size === 0 && this.#ended.length === 0) return ok(this.#end('interrupted'));
          await woken;
          continue;
        }
        const end = told ? await this.#take() : undefined;
        if (end !== undefined) return end;
        const wait = Math.max(0, this.#takeAt - clock.monotonic());
        const free = this.#active.size < this.#deps.concurrency;
        if (this.#ended.length > 0 || (free && wait === 0)) continue;
        const cancel = free || !told ? clock.after(wait, () => this.#wake()) : () => {};
        await woken;
        cancel();
      }
    } finally {
      signal.removeEventListener('abort', stop);
      this.#stop();
      await Promise.all(this.#active.values());
    }
  }

  #stop(): void {
    this.#isStopped = true;
    for (const hold of this.#active.keys()) hold.abort();
    this.#wake();
  }

  /** Whether the engine was told all there was to tell; a failure where the results cannot be written. */
  async #tell(): Promise<boolean | Failure> {
    const ended = this.#ended.splice(0);
    const records = ended.flatMap(({record}) => (record === undefined ? [] : [record]));
    if (records.length > 0) {
      const kept = await this.#deps.append(records);
      if (!kept.ok) return kept.error;
      for (const record of records) this.#deps.onRecord(record);
    }
    this.#untold.push(...ended);
    if (this.#untold.length === 0) return !this.#isAway || this.#takeAt <= this.#deps.clock.monotonic();
    const {frontier} = this.#deps;
    const batch = this.#untold;
    for (const {links, finish} of batch) {
      // A page that was told once is fetched again where its links got lost, so links come first.
      const added = await this.#addLinks(finish.leased.epoch, links);
      if (!added.ok) return this.#unreachable(added.error);
    }
    const held = await frontier.finish(batch.map(({finish}) => finish));
    if (!held.ok) return this.#unreachable(held.error);
    this.#late += held.value.filter(holds => !holds).length;
    this.#untold = [];
    this.#reached();
    return true;
  }

  async #addLinks(epoch: string, links: readonly FrontierUrl[]): Promise<Result<undefined>> {
    for (let from = 0; from < links.length; from += MOST_AT_ONCE) {
      const batch = links.slice(from, from + MOST_AT_ONCE);
      const added = await this.#deps.frontier.add(epoch, batch);
      if (!added.ok) return added;
      if (added.value.state === 'full') {
        this.#dropped += links.length - from - added.value.read;
        break;
      }
      if (added.value.state !== 'ok') break;
    }
    return ok();
  }

  #reached(): void {
    this.#isAway = false;
    this.#retryMs = FIRST_RETRY_MS;
  }

  /** The engine is away, or answers what it should not: later again, and not when all others do. */
  #unreachable(failure: Failure): false | Failure {
    if (failure.code !== 'hub_unavailable' || !failure.retryable) return failure;
    const {clock, random, onState} = this.#deps;
    onState('unreachable');
    this.#isAway = true;
    this.#takeAt = clock.monotonic() + this.#retryMs * (0.5 + random());
    this.#retryMs = Math.min(2 * this.#retryMs, LONGEST_RETRY_MS);
    return false;
  }

  /** Nothing where the work goes on. */
  async #take(): Promise<Result<WorkEnd> | undefined> {
    const {clock, random, frontier, concurrency, onState} = this.#deps;
    const free = concurrency - this.#active.size;
    const asked = clock.monotonic();
    if (free <= 0 || asked < this.#takeAt) return undefined;
    const taken = await frontier.take(free);
    if (!taken.ok) {
      const away = this.#unreachable(taken.error);
      return away === false ? undefined : {ok: false, error: away};
    }
    this.#reached();
    const {state, waitMs, urls} = taken.value;
    // Workers that wait for the same host do not come at the same time.
    const wait = urls.length === free ? 0 : Math.min(waitMs, 1000) * (1 + 0.2 * random()) + 2;
    this.#takeAt = clock.monotonic() + wait;
    switch (state) {
      case 'gone':
        if (!this.#wasThere) return noJob();
        onState('gone');
        return undefined;
      case 'cancelled':
        return ok(this.#end('cancelled'));
      case 'finished':
        return this.#active.size === 0 ? ok(this.#end('finished')) : undefined;
      case 'paused':
        this.#wasThere = true;
        onState('paused');
        return undefined;
      default:
        this.#wasThere = true;
        onState('working');
        for (const leased of urls) this.#begin(leased, taken.value, asked);
        return undefined;
    }
  }

  #begin(leased: LeasedUrl, {terms, now}: Taken, asked: number): void {
    const {clock} = this.#deps;
    const hold = new AbortController();
    // Counted from before the engine was asked, so that it is over here before it is over there.
    const lasts = asked + terms.leaseMs * (1 - LEASE_MARGIN) - clock.monotonic();
    const cancel = clock.after(Math.max(0, lasts), () => hold.abort());
    const work = async (): Promise<void> => {
      try {
        const ended = await fetchLeased(
          leased,
          terms,
          {
            signal: hold.signal,
            isStopped: () => this.#isStopped,
            engineNow: () => now + (clock.monotonic() - asked),
          },
          this.#deps,
        );
        if (ended !== undefined) this.#ended.push(ended);
      } catch (error) {
        this.#bug ??= {error};
      } finally {
        cancel();
        this.#active.delete(hold);
        this.#wake();
      }
    };
    this.#active.set(hold, work());
  }

  #end(state: WorkEnd['state']): WorkEnd {
    return {state, late: this.#late, dropped: this.#dropped};
  }
}

function noJob(): Result<never> {
  return fail('invalid_params', 'There is no such job. Make it with "forge-tools crawl start".', {
    field: 'job',
    reason: 'not found',
  });
}
