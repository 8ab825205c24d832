// One worker over a queue of addresses: that of a batch, in memory, or the shared one of a crawl. It fetches pages, has
// them kept and tells the queue what became of each.
import {type Clock, timestamp} from '../../core/clock.ts';
import {FAILURE_CODES} from '../../core/failure-codes.ts';
import {type Failure, fail, ok, type Result} from '../../core/result.ts';
import type {Finish, Frontier, FrontierUrl, LeasedUrl, ReadPage, Taken} from '../toolbox-services.ts';
import {LONGEST_PAUSE_MS, refusalPause} from './outcome.ts';

/** Of one step of the engine. */
const MOST_AT_ONCE = 200;
/** Before the end of a lease, so that a request is over when another worker may send it again. */
const LEASE_MARGIN = 0.1;
const LONGEST_RETRY_MS = 5000;
const FIRST_RETRY_MS = 200;

/** What a queue is told of a page. */
export interface PageEnd extends Finish {
  /** Whether its host was disturbed. */
  readonly asked: boolean;
  /** How long its host asked to be left alone, where it did. */
  readonly refusalMs: number | undefined;
}

/** The queue of this process, or that of a job. */
export interface FetchQueue extends Pick<Frontier, 'take'> {
  readonly finish: (ends: readonly PageEnd[]) => Promise<Result<readonly boolean[]>>;
  /** Of a queue that takes what pages lead to. */
  readonly add?: Frontier['add'];
  /** Calls `look` as soon as there may be more to take. */
  readonly onMore?: (look: () => void) => void;
}

/** What became of an address, to be kept. */
export interface PageOutcome {
  readonly url: string;
  readonly result: Result<ReadPage>;
  /** Links between it and the list. */
  readonly depth: number;
  /** RFC 3339 UTC, by the clock of the worker. */
  readonly time: string;
  readonly duration_ms: number;
  /** From 1; leases that ended count. */
  readonly attempts: number;
}

export interface WorkerDeps extends FetchLeasedDeps {
  readonly queue: FetchQueue;
  readonly keep: (outcomes: readonly PageOutcome[]) => Promise<Result<undefined>>;
  /** Pages at the same time. */
  readonly concurrency: number;
  /** Ends the work: what is under way is given back. */
  readonly signal: AbortSignal;
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
export async function workQueue(deps: WorkerDeps): Promise<Result<WorkEnd>> {
  return new QueueWorker(deps).run();
}

class QueueWorker {
  readonly #deps: WorkerDeps;
  readonly #active = new Map<AbortController, Promise<void>>();
  readonly #ended: Ended[] = [];
  /** On the disk, and not told to the engine yet. */
  #untold: Ended[] = [];
  #wake: () => void = () => {};
  #retryMs = FIRST_RETRY_MS;
  #takeAt = 0;
  /** The queue has said so since it was last looked at. */
  #isMore = false;
  #isAway = false;
  #isStopped = false;
  #late = 0;
  #dropped = 0;
  #wasThere = false;
  #bug: {readonly error: unknown} | undefined;

  constructor(deps: WorkerDeps) {
    this.#deps = deps;
    deps.queue.onMore?.(() => {
      this.#isMore = true;
      this.#takeAt = 0;
      this.#wake();
    });
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
    const outcomes = ended.flatMap(({outcome}) => outcome ?? []);
    if (outcomes.length > 0) {
      const kept = await this.#deps.keep(outcomes);
      if (!kept.ok) return kept.error;
    }
    this.#untold.push(...ended);
    if (this.#untold.length === 0) return !this.#isAway || this.#takeAt <= this.#deps.clock.monotonic();
    const batch = this.#untold;
    for (const {links, finish} of batch) {
      // A page that was told once is fetched again where its links got lost, so links come first.
      const added = await this.#addLinks(finish.leased.epoch, links);
      if (!added.ok) return this.#unreachable(added.error);
    }
    const held = await this.#deps.queue.finish(batch.map(({finish}) => finish));
    if (!held.ok) return this.#unreachable(held.error);
    this.#late += held.value.filter(holds => !holds).length;
    this.#untold = [];
    this.#reached();
    return true;
  }

  async #addLinks(epoch: string, links: readonly FrontierUrl[]): Promise<Result<undefined>> {
    const {queue} = this.#deps;
    for (let from = 0; queue.add && from < links.length; from += MOST_AT_ONCE) {
      const batch = links.slice(from, from + MOST_AT_ONCE);
      const added = await queue.add(epoch, batch);
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
    const {clock, random, queue, concurrency, onState} = this.#deps;
    const free = concurrency - this.#active.size;
    const asked = clock.monotonic();
    if (free <= 0 || asked < this.#takeAt) return undefined;
    this.#isMore = false;
    const taken = await queue.take(free);
    if (!taken.ok) {
      const away = this.#unreachable(taken.error);
      return away === false ? undefined : {ok: false, error: away};
    }
    this.#reached();
    const {state, waitMs, urls} = taken.value;
    // Workers that wait for the same host do not come at the same time.
    const wait = urls.length === free || this.#isMore ? 0 : Math.min(waitMs, 1000) * (1 + 0.2 * random()) + 2;
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

/** Leases of one address that may end without a word before it is given up: it may be what ends its workers. */
const MOST_LEASES = 10;
const FIRST_DELAY_MS = 1000;

interface FetchLeasedDeps {
  readonly read: (url: string, signal: AbortSignal) => Promise<Result<ReadPage>>;
  /** What is tried again: what may pass (of a job), or only what its host wants later. */
  readonly retries: 'what may pass' | 'refusals';
  /** The addresses that a page leads to, within what the job follows. */
  readonly links?: (
    markdown: string,
    from: FrontierUrl,
    sameSite: boolean,
  ) => Promise<readonly FrontierUrl[]>;
  readonly clock: Clock;
  /** From 0 to 1. */
  readonly random: () => number;
}

/** The right of a worker to an address. */
export interface Hold {
  /** Fires at the end of the lease, and where the worker stops. */
  readonly signal: AbortSignal;
  /** Whether it was the worker that stopped. */
  readonly isStopped: () => boolean;
  /** The time of the engine, in milliseconds since the epoch. */
  readonly engineNow: () => number;
}

/** What became of an address: what is kept of it, what the queue is told, and what it leads to. */
interface Ended {
  readonly outcome?: PageOutcome;
  readonly finish: PageEnd;
  readonly links: readonly FrontierUrl[];
}

/**
 * Fetches one address that was taken. Nothing where the lease ended first: another worker has the address by now.
 */
export async function fetchLeased(
  leased: LeasedUrl,
  terms: Taken['terms'],
  {signal, isStopped, engineNow}: Hold,
  {clock, random, read, retries, links: linksOf = async () => []}: FetchLeasedDeps,
): Promise<Ended | undefined> {
  const {url, depth, attempt: attempts} = leased;
  const start = clock.monotonic();
  const outcomeOf = (result: Result<ReadPage>): PageOutcome => ({
    url,
    result,
    depth,
    time: timestamp(clock.now()),
    duration_ms: Math.round(clock.monotonic() - start),
    attempts,
  });
  const given = GIVEN_UP.find(({holds}) => holds(leased));
  const result = given === undefined ? await read(url, signal) : ({ok: false, error: given.failure} as const);
  if (result.ok) {
    const {response, markdown} = result.value;
    const asked = !response.notes.includes('cache_hit');
    const links = depth < terms.depth ? await linksOf(markdown, leased, terms.sameSite) : [];
    const finish = {leased, outcome: 'done', asked, refusalMs: undefined} as const;
    return {outcome: outcomeOf(result), finish, links};
  }
  const failure = result.error;
  const {code} = failure;
  const isCut = code === 'cancelled' && signal.aborted;
  if (isCut && !isStopped()) return undefined;
  const isShared = retries === 'what may pass';
  const refusalMs = refusalPause(failure, attempts, engineNow());
  const {blame} = FAILURE_CODES[code];
  // What the guard, robots.txt or the arguments refuse sends nothing to the host of the page.
  const told = {leased, asked: blame === 'remote' || blame === 'host', refusalMs};
  // Without the engine nobody was asked.
  if (isCut || (isShared && code === 'hub_unavailable'))
    return {finish: {...told, outcome: 'back'}, links: []};

  const pauseMs = Math.min(refusalMs ?? 0, LONGEST_PAUSE_MS);
  const aside = refusalMs !== undefined && (refusalMs > LONGEST_PAUSE_MS || leased.aside);
  const ended = {...told, code, pauseMs};
  // The host was not asked, so this was no try of the address.
  if (isShared && code === 'host_busy' && !aside) return {finish: {...ended, outcome: 'back'}, links: []};
  if (
    (isShared ? failure.retryable : refusalMs !== undefined) &&
    !given &&
    !aside &&
    attempts < terms.tries
  ) {
    const doubled = FIRST_DELAY_MS * 2 ** (attempts - 1);
    const delayMs = Math.max(pauseMs, doubled) + random() * doubled;
    return {finish: {...ended, outcome: 'again', delayMs}, links: []};
  }
  return {outcome: outcomeOf(result), finish: {...ended, outcome: aside ? 'aside' : 'failed'}, links: []};
}

const GIVEN_UP: readonly {readonly holds: (leased: LeasedUrl) => boolean; readonly failure: Failure}[] = [
  {
    holds: ({aside}) => aside,
    failure: {
      code: 'http_4xx',
      message:
        'The host asked again and again to be left alone, so nothing more of it was fetched. Start the crawl again later.',
      retryable: true,
      details: {},
    },
  },
  {
    holds: ({attempt}) => attempt > MOST_LEASES,
    failure: {
      code: 'timeout',
      message: `${MOST_LEASES} workers took this page and none finished it within its lease. Fetch it alone, or raise --lease.`,
      retryable: true,
      details: {},
    },
  },
];
