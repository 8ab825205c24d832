// The queue of a crawl that many workers share. Each address is leased to one of them at a time.
import {createHash} from 'node:crypto';
import {randomHex} from '../core/clock.ts';
import {fail, ok, type Result} from '../core/result.ts';
import type {HubConnection, HubScript, HubValue} from './connection.ts';
import {ADD, CANCEL, FINISH, LISTED, SET_STATE, START, STATUS, TAKE} from './frontier-scripts.ts';

/** What a job is made with; who starts it again changes none of it. */
export interface JobSettings {
  /** Least time between two requests to one host, in milliseconds. */
  readonly gapMs: number;
  /** Requests to one host at the same time. */
  readonly perHost: number;
  /** How long a worker may take for an address before another one gets it, in milliseconds. */
  readonly leaseMs: number;
  /** Addresses that wait; beyond it `add` answers `full`. */
  readonly maxPending: number;
  /** Links that are followed one after another, within a site. 0 follows none. */
  readonly depth: number;
  /** Whether links to other hosts of the same site are followed too. */
  readonly sameSite: boolean;
  /** Tries of an address. */
  readonly tries: number;
}

/** An address that is to be fetched. */
export interface FrontierUrl {
  /** Canonical. */
  readonly url: string;
  /** Whom a request disturbs. */
  readonly host: string;
  /** Links between it and the list. */
  readonly depth: number;
}

/** An address that a worker has for as long as its lease lasts. */
export interface LeasedUrl extends FrontierUrl {
  /** From 1; leases that ended count. */
  readonly attempt: number;
  /** Which life of the job gave it out, and the number of the grant. */
  readonly epoch: string;
  readonly fence: number;
  /** Its host was given up: it is not asked again. */
  readonly aside: boolean;
}

export interface Finish {
  readonly leased: LeasedUrl;
  /** `again`: tried later. `back`: nobody tried. `aside`: failed, and the host is given up. */
  readonly outcome: 'done' | 'failed' | 'again' | 'back' | 'aside';
  /** Of the failure. */
  readonly code?: string;
  /** How long the host is left alone by every worker. */
  readonly pauseMs?: number;
  /** Until the next try. */
  readonly delayMs?: number;
}

export type JobState = 'running' | 'paused' | 'cancelled' | 'finished' | 'gone';

export interface Taken {
  readonly state: JobState;
  /** Until there may be more. */
  readonly waitMs: number;
  /** Of the engine, in milliseconds since the epoch: the only time that all workers share. */
  readonly now: number;
  readonly terms: Pick<JobSettings, 'leaseMs' | 'depth' | 'tries' | 'sameSite'>;
  readonly urls: readonly LeasedUrl[];
}

export interface Added {
  readonly state: 'ok' | 'full' | 'cancelled' | 'gone';
  readonly added: number;
  readonly known: number;
  /** How many of the batch were looked at. Less than all where the job is full. */
  readonly read: number;
}

/** Most addresses of one `add`, grants of one `take` and ends of one `finish`. */
export const MOST_AT_ONCE = 200;

/**
 * What is left to do of one job, shared by all of its workers. Every method is one step in the engine and fails with
 * `hub_unavailable`.
 */
export interface Frontier {
  /** Makes the job unless it is there; then a list may be added. Says which life of the job it is. */
  readonly start: (
    settings: JobSettings,
  ) => Promise<
    Result<{readonly epoch: string; readonly made: boolean; readonly listed: () => Promise<Result<boolean>>}>
  >;
  /** At most `MOST_AT_ONCE`. */
  readonly add: (epoch: string, urls: readonly FrontierUrl[]) => Promise<Result<Added>>;
  readonly take: (most: number) => Promise<Result<Taken>>;
  /** For each whether its lease held. What came too late changes nothing. */
  readonly finish: (ends: readonly Finish[]) => Promise<Result<readonly boolean[]>>;
  readonly setState: (state: 'running' | 'paused') => Promise<Result<JobState>>;
  /** Drops what is left, in steps. */
  readonly cancel: () => Promise<Result<JobState>>;
  /** `undefined` where the engine has no such job. */
  readonly status: () => Promise<Result<JobStatus | undefined>>;
}

const LEAST_LEASE_MS = 1000;
const LONGEST_LEASE_MS = 3_600_000;
const MOST_TRIES = 10;

/** As `ADD` was given it: attempt, depth and address. */
const ENTRY = /^(\d{1,9}) (\d{1,9}) ([^\s]{1,65536})$/;
const JOB_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** What a job may be called: it is part of keys and of file names. */
export function isJobName(name: string): boolean {
  return JOB_NAME.test(name);
}

/** 128 bits of SHA-256: two addresses of one job that share them are not to be expected. */
function idOf(url: string): Buffer {
  return createHash('sha256').update(url, 'utf8').digest().subarray(0, 16);
}

export function openFrontier(connection: HubConnection, job: string): Frontier {
  if (!isJobName(job)) throw new Error(`Expected the name of a job, got ${JSON.stringify(job)}.`);
  const keys = [connection.key('g', 'j', job)];
  const run = async <Value>(
    script: HubScript,
    args: readonly (string | number | Buffer)[],
    read: (answer: readonly HubValue[]) => Value | undefined,
  ): Promise<Result<Value>> => {
    const answer = await connection.run(script, keys, args);
    if (!answer.ok) return answer;
    const value = read(Array.isArray(answer.value) ? answer.value : [answer.value]);
    return value === undefined ? strange(script) : ok(value);
  };

  return {
    async start({gapMs, perHost, leaseMs, maxPending, depth, tries, sameSite}) {
      const lister = randomHex(8);
      const site = sameSite ? 1 : 0;
      const args = [randomHex(8), lister, gapMs, perHost, leaseMs, maxPending, depth, tries, site];
      const started = await run(START, args, ([state, epoch, made]) => ({state, epoch, made: made === 1}));
      if (!started.ok) return started;
      const {state, epoch, made} = started.value;
      if (typeof epoch !== 'string') {
        return fail(
          'invalid_params',
          `Job "${job}" was cancelled, and what it held is still being freed. Cancel it again, or choose another name.`,
          {field: 'job', reason: String(state)},
        );
      }
      return ok({epoch, made, listed: () => run(LISTED, [lister], ([said]) => said === 1)});
    },
    add: (epoch, urls) =>
      run(
        ADD,
        [epoch, ...urls.flatMap(({url, host, depth}) => [idOf(url), host, `1 ${depth} ${url}`])],
        ([state, added, known, read]) =>
          isAddState(state) && isCount(added) && isCount(known) && isCount(read)
            ? {state, added, known, read: Math.min(read, urls.length)}
            : undefined,
      ),
    take: most => run(TAKE, [Math.min(most, MOST_AT_ONCE)], answer => readTaken(answer, most)),
    async finish(ends) {
      const held = new Map<Finish, boolean>();
      // Leases of two lives of a job may come together.
      for (const epoch of new Set(ends.map(({leased}) => leased.epoch))) {
        const own = ends.filter(({leased}) => leased.epoch === epoch);
        for (let from = 0; from < own.length; from += MOST_AT_ONCE) {
          const batch = own.slice(from, from + MOST_AT_ONCE);
          const args = batch.flatMap(({leased, outcome, code = '', pauseMs = 0, delayMs = 0}) => [
            leased.fence,
            outcome,
            code,
            Math.ceil(pauseMs),
            Math.ceil(delayMs),
          ]);
          const told = await run(FINISH, [epoch, ...args], answer => answer);
          if (!told.ok) return told;
          for (const [at, end] of batch.entries()) held.set(end, told.value[at] === 1);
        }
      }
      return ok(ends.map(end => held.get(end) === true));
    },
    setState: state => run(SET_STATE, [state], ([now]) => (isJobState(now) ? now : undefined)),
    async cancel() {
      for (;;) {
        const step = await run(CANCEL, [], ([state, more]) =>
          isJobState(state) ? {state, more: more === 1} : undefined,
        );
        if (!step.ok) return step;
        if (!step.value.more) return ok(step.value.state);
      }
    },
    status: async () => {
      const answer = await run(STATUS, [], values => ({values}));
      if (!answer.ok) return answer;
      const {values} = answer.value;
      if (values.length === 0) return ok(undefined);
      const status = readStatus(values);
      return status ? ok(status) : strange(STATUS);
    },
  };
}

const GONE: Taken = {
  state: 'gone',
  waitMs: 1000,
  now: 0,
  terms: {leaseMs: 0, depth: 0, tries: 1, sameSite: false},
  urls: [],
};

function readTaken(answer: readonly HubValue[], most: number): Taken | undefined {
  const [state, waitMs, epoch, now, leaseMs, depth, tries, site, ...rest] = answer;
  if (state === 'gone') return GONE;
  if (!isJobState(state) || !isCount(waitMs) || typeof epoch !== 'string') return undefined;
  if (!isCount(now) || !isCount(leaseMs) || !isCount(depth) || !isCount(tries)) return undefined;
  // No job is made with others. A lease that is longer than a timer would end at once.
  if (leaseMs < LEAST_LEASE_MS || leaseMs > LONGEST_LEASE_MS || tries > MOST_TRIES) return undefined;
  const urls: LeasedUrl[] = [];
  for (let at = 0; at + 3 < rest.length && urls.length < most; at += 4) {
    const [fence, host, entry, aside] = rest.slice(at, at + 4);
    if (!isCount(fence) || typeof host !== 'string' || typeof entry !== 'string') return undefined;
    const [, attempt, links, url] = ENTRY.exec(entry) ?? [];
    if (url === undefined) return undefined;
    urls.push({url, host, depth: Number(links), attempt: Number(attempt), epoch, fence, aside: aside === 1});
  }
  return {state, waitMs, now, terms: {leaseMs, depth, tries, sameSite: site === 1}, urls};
}

function strange({name}: HubScript): Result<never> {
  return fail(
    'internal',
    `The engine answered ${name} with what it does not answer. Is it another version's?`,
  );
}

function isCount(value: HubValue | undefined): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

function isJobState(value: HubValue | undefined): value is JobState {
  return ['running', 'paused', 'cancelled', 'finished', 'gone'].includes(value as string);
}

function isAddState(value: HubValue | undefined): value is Added['state'] {
  return ['ok', 'full', 'cancelled', 'gone'].includes(value as string);
}

/** How a job stands. */
export interface JobStatus {
  readonly state: 'running' | 'paused' | 'cancelled' | 'finished';
  /** Whether its list was read to the end; until then it does not finish. */
  readonly listed: boolean;
  /** Addresses that were ever added. */
  readonly added: number;
  readonly pending: number;
  /** With workers now. */
  readonly leased: number;
  /** Waiting for another try. */
  readonly later: number;
  readonly done: number;
  readonly failed: number;
  /** Leases that ended without a word. */
  readonly expired: number;
  readonly hosts: {
    /** That may be asked now. */
    readonly ready: number;
    /** That wait for their gap or a pause. */
    readonly waiting: number;
    /** With requests under way. */
    readonly active: number;
    /** Given up. */
    readonly aside: number;
  };
  /** Failures by code, later tries included. */
  readonly errors: {readonly [code: string]: number};
  /** How long the job is there, in milliseconds of the engine. */
  readonly age_ms: number;
  /** Of a worker for an address, and of the job for a host. */
  readonly settings: {
    readonly gap_ms: number;
    readonly per_host: number;
    readonly lease_ms: number;
    readonly max_pending: number;
    readonly depth: number;
    readonly tries: number;
  };
}

/** The answer of the script; `undefined` where it is something else. */
export function readStatus(answer: readonly HubValue[]): JobStatus | undefined {
  const [now, pairs, leased, later, ready, waiting, active, aside] = answer;
  if (!Array.isArray(pairs)) return undefined;
  const fields = new Map<string, HubValue>();
  for (let at = 0; at + 1 < pairs.length; at += 2) fields.set(String(pairs[at]), pairs[at + 1] ?? null);
  const count = (value: HubValue | undefined): number => {
    const number = Number(value ?? 0);
    return Number.isSafeInteger(number) && number >= 0 ? number : 0;
  };
  const field = (name: string): number => count(fields.get(name));
  const state = fields.get('state');
  if (state !== 'running' && state !== 'paused' && state !== 'cancelled') return undefined;
  const errors: [string, number][] = [];
  for (const [name, value] of fields) {
    if (/^e:[a-z_0-9]{1,40}$/.test(name)) errors.push([name.slice(2), count(value)]);
  }
  const listed = field('listed') === 1;
  const left = field('pending') + count(leased) + count(later);
  return {
    state: state === 'running' && listed && left === 0 ? 'finished' : state,
    listed,
    added: field('added'),
    pending: field('pending'),
    leased: count(leased),
    later: count(later),
    done: field('done'),
    failed: field('failed'),
    expired: field('expired'),
    hosts: {ready: count(ready), waiting: count(waiting), active: count(active), aside: count(aside)},
    errors: Object.fromEntries(errors.sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))),
    age_ms: Math.max(0, count(now) - field('started')),
    settings: {
      gap_ms: field('gap'),
      per_host: field('max'),
      lease_ms: field('lease'),
      max_pending: field('most'),
      depth: field('depth'),
      tries: field('tries'),
    },
  };
}
