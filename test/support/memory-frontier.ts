import {ok, type Result} from '../../src/core/result.ts';
import type {Finish, Frontier, FrontierUrl, JobState, LeasedUrl} from '../../src/hub/frontier.ts';

/** A job in memory, without gaps and leases that end, and what was asked of it in order. */
export interface MemoryFrontier extends Frontier {
  readonly calls: string[];
  readonly ends: Finish[];
  /** What the next steps answer instead. */
  readonly failures: Result<never>[];
  readonly waiting: FrontierUrl[];
  state: JobState;
  /** Whether the list was read to its end. */
  isListed: boolean;
  /** Addresses that may wait. */
  most: number;
}

export function memoryFrontier(urls: readonly string[]): MemoryFrontier {
  const seen = new Set<string>(urls);
  const leased = new Set<number>();
  let fence = 0;
  const step = async <Value>(name: string, work: () => Value): Promise<Result<Value>> => {
    job.calls.push(name);
    return job.failures.shift() ?? ok(work());
  };
  const job: MemoryFrontier = {
    calls: [],
    ends: [],
    failures: [],
    waiting: urls.map(url => ({url, host: new URL(url).host, depth: 0})),
    state: 'running',
    isListed: true,
    most: 1000,
    start: settings =>
      step(`start ${JSON.stringify(settings)}`, () => {
        job.isListed = false;
        const listed = () =>
          step('listed', () => {
            job.isListed = true;
            return true;
          });
        return {epoch: 'e', made: true, listed};
      }),
    add: (_, given) =>
      step(`add ${given.map(({url}) => url).join(' ')}`, () => {
        const state = job.state === 'gone' || job.state === 'cancelled' ? job.state : 'ok';
        const counts = {added: 0, known: 0, read: 0};
        if (state !== 'ok') return {state, ...counts};
        for (const one of given) {
          if (!seen.has(one.url) && job.waiting.length >= job.most) return {state: 'full', ...counts};
          counts.read += 1;
          if (seen.has(one.url)) counts.known += 1;
          else {
            counts.added += 1;
            seen.add(one.url);
            job.waiting.push(one);
          }
        }
        return {state, ...counts};
      }),
    take: most =>
      step('take', () => {
        const terms = {leaseMs: 10_000, depth: 1, tries: 3, sameSite: false};
        const isOver = job.isListed && job.waiting.length === 0 && leased.size === 0;
        const state = job.state === 'running' && isOver ? 'finished' : job.state;
        const given = state === 'running' ? job.waiting.splice(0, most) : [];
        const urls = given.map((one): LeasedUrl => {
          fence += 1;
          leased.add(fence);
          return {...one, attempt: 1, epoch: 'e', fence, aside: false};
        });
        return {state, waitMs: 100, now: 1_000_000, terms, urls};
      }),
    finish: ends =>
      step(`finish ${ends.map(end => `${end.outcome} ${end.leased.url}`).join(' ')}`, () => {
        job.ends.push(...ends);
        return ends.map(end => {
          const holds = leased.delete(end.leased.fence);
          if (holds && end.outcome === 'back') job.waiting.push(end.leased);
          return holds;
        });
      }),
    setState: state =>
      step(state, () => {
        if (job.state !== 'gone' && job.state !== 'cancelled') job.state = state;
        return job.state;
      }),
    cancel: () =>
      step('cancel', () => {
        if (job.state !== 'gone') job.state = 'cancelled';
        return job.state;
      }),
    status: () =>
      step('status', () => {
        if (job.state === 'gone') return undefined;
        const done = job.ends.filter(({outcome}) => outcome === 'done').length;
        return {
          state: job.state,
          listed: job.isListed,
          added: seen.size,
          pending: job.waiting.length,
          leased: leased.size,
          later: 0,
          done,
          failed: 0,
          expired: 0,
          hosts: {ready: 0, waiting: 0, active: 0, aside: 0},
          errors: {},
          age_ms: 1000,
          settings: {gap_ms: 0, per_host: 1, lease_ms: 10_000, max_pending: 1000, depth: 1, tries: 3},
        };
      }),
  };
  return job;
}
