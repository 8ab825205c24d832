import {describe, expect, test} from 'vitest';
import {createManualClock} from '../../../test/support/manual-clock.ts';
import {type MemoryFrontier, memoryFrontier} from '../../../test/support/memory-frontier.ts';
import {type Failure, fail, type Json, ok, type Result} from '../../core/result.ts';
import type {Finish, FrontierUrl, LeasedUrl, ReadPage} from '../toolbox-services.ts';
import {fetchLeased, type Hold, type WorkEnd, type WorkerDeps, workQueue} from './worker.ts';

const A = 'https://a.example/';
const B = 'https://b.example/';
const C = 'https://c.example/';
const AWAY = fail('hub_unavailable', 'The hub did not answer.');

const page = ok({
  markdown: 'text',
  response: {final_url: A, fetched_at: '2026-01-01T00:00:00.000Z', chunks: [], notes: []},
} as unknown as ReadPage);

interface World {
  readonly job: MemoryFrontier;
  readonly clock: ReturnType<typeof createManualClock>;
  readonly stop: AbortController;
  readonly states: string[];
  /** Lets an address that is being fetched have its page. */
  readonly answer: (url: string, result?: Result<ReadPage>) => Promise<void>;
  readonly asked: string[];
  readonly end: Promise<Result<WorkEnd>>;
  /** Until nothing moves but the clock. */
  readonly settle: () => Promise<void>;
  /** The end of the work, when it looks once more for what is left. */
  readonly ended: () => Promise<Result<WorkEnd>>;
}

/** A worker whose pages come when the test says so. */
function work(job: MemoryFrontier, given: Partial<WorkerDeps> = {}): World {
  const clock = createManualClock();
  const stop = new AbortController();
  const asked: string[] = [];
  const pages = new Map<string, (result: Result<ReadPage>) => void>();
  const states: string[] = [];
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn += 1) await new Promise(resolve => setImmediate(resolve));
  };
  const end = workQueue({
    queue: job,
    keep: async outcomes => {
      job.calls.push(`append ${outcomes.map(({url}) => url).join(' ')}`);
      return ok();
    },
    concurrency: 8,
    clock,
    signal: stop.signal,
    retries: 'what may pass',
    onState: state => states.push(state),
    random: () => 0,
    links: async () => [],
    read: (url, signal) =>
      new Promise(resolve => {
        asked.push(url);
        pages.set(url, resolve);
        signal.addEventListener('abort', () => resolve(fail('cancelled', 'Cancelled.')));
      }),
    ...given,
  });
  // Looked at by the test, also where it fails before.
  end.catch(() => {});
  return {
    job,
    clock,
    stop,
    states,
    asked,
    end,
    settle,
    async ended() {
      clock.advance(200);
      await settle();
      return end;
    },
    async answer(url, result = page) {
      pages.get(url)?.(result);
      await settle();
    },
  };
}

/** What was asked of the job but for its looks for more. */
const done = ({calls}: MemoryFrontier): readonly string[] => calls.filter(call => call !== 'take');

test('S1 what the engine is told is on the disk before', async () => {
  const {job, answer, settle, ended} = work(memoryFrontier([A]));
  await settle();
  await answer(A);
  expect(done(job)).toEqual([`append ${A}`, `finish done ${A}`]);
  expect(await ended()).toEqual({ok: true, value: {state: 'finished', late: 0, dropped: 0}});
});

test('S1 results that cannot be written end the work, and nothing is told as done', async () => {
  const full = fail('io_error', 'ENOSPC');
  const {job, answer, settle, end} = work(memoryFrontier([A, B]), {keep: async () => full});
  await settle();
  await answer(A);
  expect(await end).toEqual(full);
  expect(done(job)).toEqual([]);
});

test('S1 while the engine is away, nothing is taken, and what is finished is told when it is back', async () => {
  const {job, answer, settle, clock, states, end} = work(memoryFrontier([A, B]), {concurrency: 1});
  await settle();
  job.failures.push(AWAY, AWAY);
  await answer(A);
  expect(states.at(-1)).toBe('unreachable');
  expect(done(job)).toEqual([`append ${A}`, `finish done ${A}`]);
  clock.advance(100);
  await settle();
  // The second try, which fails too. It waits twice as long for the next.
  expect(done(job)).toHaveLength(3);
  clock.advance(150);
  await settle();
  expect(done(job)).toHaveLength(3);
  clock.advance(50);
  await settle();
  expect(done(job)).toHaveLength(4);
  expect(job.ends.map(({leased}) => leased.url)).toEqual([A]);
  await answer(B);
  expect(await end).toMatchObject({ok: true, value: {state: 'finished'}});
});

test('S1 a job that is not there is an error at first, and is waited for when it was there', async () => {
  const none = memoryFrontier([]);
  none.state = 'gone';
  expect(await work(none).end).toMatchObject({ok: false, error: {code: 'invalid_params'}});

  const {job, settle, clock, states, end} = work(memoryFrontier([A, B]), {
    concurrency: 1,
    read: async () => page,
  });
  job.isListed = false;
  await settle();
  job.state = 'gone';
  clock.advance(200);
  await settle();
  expect(states.at(-1)).toBe('gone');
  job.state = 'running';
  job.isListed = true;
  clock.advance(2000);
  await settle();
  expect(await end).toMatchObject({ok: true, value: {state: 'finished'}});
});

test('S1 a job that is paused gives nothing, and one that is cancelled ends its workers', async () => {
  const {job, settle, clock, asked, states, end} = work(memoryFrontier([A]));
  job.state = 'paused';
  await settle();
  expect({asked, states}).toEqual({asked: [], states: ['paused']});
  job.state = 'cancelled';
  clock.advance(200);
  await settle();
  expect(await end).toMatchObject({ok: true, value: {state: 'cancelled'}});
});

test('S1 a worker that is told to stop gives back what it has, and says what it had finished', async () => {
  const {job, answer, settle, stop, end} = work(memoryFrontier([A, B, C]), {concurrency: 3});
  await settle();
  await answer(A);
  stop.abort();
  expect(await end).toMatchObject({ok: true, value: {state: 'interrupted'}});
  expect(job.ends.map(({outcome, leased}) => `${outcome} ${leased.url}`)).toEqual([
    `done ${A}`,
    `back ${B}`,
    `back ${C}`,
  ]);
  expect(job.waiting).toHaveLength(2);
});

test('S1 a page is left at nine tenths of its lease, and nothing is said of it', async () => {
  const {job, settle, clock, stop, end} = work(memoryFrontier([A]));
  await settle();
  clock.advance(8999);
  await settle();
  expect(done(job)).toEqual([]);
  // The request ends here, before another worker may send it.
  clock.advance(1);
  await settle();
  expect(done(job)).toEqual([]);
  stop.abort();
  expect(await end).toMatchObject({ok: true, value: {state: 'interrupted'}});
  expect(job.ends).toEqual([]);
});

test('S1 an end that comes after its lease is counted', async () => {
  const {job, answer, settle, ended} = work(memoryFrontier([A]));
  await settle();
  const {finish} = job;
  Object.assign(job, {
    finish: async (ends: readonly Finish[]) => {
      await finish(ends);
      return ok(ends.map(() => false));
    },
  });
  await answer(A);
  expect(await ended()).toMatchObject({value: {state: 'finished', late: 1}});
});

test('S1 links are added before their page is told, and those that find no room are counted', async () => {
  const link = (at: number): FrontierUrl => ({url: `${A}${at}`, host: 'a.example', depth: 1});
  const found = [link(1), link(2), link(3)];
  const job = memoryFrontier([A]);
  job.most = 2;
  const {answer, clock, settle, ended} = work(job, {links: async () => found});
  await settle();
  await answer(A);
  expect(done(job)[1]).toBe(`add ${found.map(({url}) => url).join(' ')}`);
  expect(done(job)[2]).toBe(`finish done ${A}`);
  clock.advance(200);
  await settle();
  await answer(`${A}1`);
  await answer(`${A}2`);
  expect(await ended()).toMatchObject({value: {dropped: 1}});
});

test('S1 an engine that says what no engine says ends the work', async () => {
  const strange = fail('internal', 'The engine answered what it does not answer.');
  const job = memoryFrontier([A]);
  job.failures.push(strange);
  expect(await work(job).end).toEqual(strange);
});

test('S1 a bug while a page is read ends the worker and is no failure of the page', async () => {
  const job = memoryFrontier([A]);
  const {end} = work(job, {
    read: async () => {
      throw new TypeError('A bug.');
    },
  });
  await expect(end).rejects.toThrow('A bug.');
  expect(job.ends).toEqual([]);
});

describe('fetch leased', () => {
  const LEASED: LeasedUrl = {
    url: 'https://a.example/1',
    host: 'a.example',
    depth: 1,
    attempt: 1,
    epoch: 'e',
    fence: 7,
    aside: false,
  };
  const TERMS = {leaseMs: 60_000, depth: 2, tries: 3, sameSite: false};
  const LINK = {url: 'https://a.example/2', host: 'a.example', depth: 2};

  const page = (markdown: string): Result<ReadPage> =>
    ok({
      markdown,
      response: {
        requested_url: LEASED.url,
        final_url: LEASED.url,
        fetched_at: '2026-01-01T00:00:00.000Z',
        title: 'A page',
        chunks: [],
        notes: ['cache_hit'],
      } as unknown as ReadPage['response'],
    });

  interface Circumstances {
    readonly leased?: Partial<LeasedUrl>;
    readonly depth?: number;
    readonly hold?: Partial<Hold>;
  }

  async function fetchWith(result: Result<ReadPage>, {leased, depth = 2, hold}: Circumstances = {}) {
    const read: string[] = [];
    const ended = await fetchLeased(
      {...LEASED, ...leased},
      {...TERMS, depth},
      {signal: new AbortController().signal, isStopped: () => false, engineNow: () => 0, ...hold},
      {
        read: async url => {
          read.push(url);
          return result;
        },
        retries: 'what may pass',
        links: async () => [LINK],
        clock: createManualClock(),
        random: () => 0.5,
      },
    );
    return {read, ended};
  }

  const refused = (code: Failure['code'], details: {readonly [name: string]: Json} = {}) =>
    fail(code, 'Refused.', details);

  test('S1 a page is a record, an end and its links, as deep as the job goes', async () => {
    const {ended} = await fetchWith(page('text'));
    expect(ended).toMatchObject({
      outcome: {url: LEASED.url, result: {ok: true}, attempts: 1, depth: 1},
      finish: {outcome: 'done', leased: {fence: 7}, asked: false},
      links: [LINK],
    });
    expect((await fetchWith(page('text'), {depth: 1})).ended?.links).toEqual([]);
  });

  test('S1 what may pass is tried again, later each time, and is a failure after its last try', async () => {
    const first = await fetchWith(refused('timeout'));
    expect(first.ended?.outcome).toBeUndefined();
    expect(first.ended?.finish).toMatchObject({outcome: 'again', code: 'timeout', delayMs: 1500});
    const second = await fetchWith(refused('timeout'), {leased: {attempt: 2}});
    expect(second.ended?.finish).toMatchObject({outcome: 'again', delayMs: 3000});
    const third = await fetchWith(refused('timeout'), {leased: {attempt: 3}});
    expect(third.ended).toMatchObject({
      outcome: {result: {error: {code: 'timeout', retryable: true}}, attempts: 3},
      finish: {outcome: 'failed', code: 'timeout'},
    });
    expect((await fetchWith(refused('robots_disallowed'))).ended?.finish).toMatchObject({outcome: 'failed'});
  });

  test('S1 a host that kept others waiting was not asked, which is no try of the address', async () => {
    const busy = refused('host_busy', {host: 'a.example', reason: 'busy', retry_after: '2'});
    for (const attempt of [1, 3, 9]) {
      const {ended} = await fetchWith(busy, {leased: {attempt}});
      expect(ended?.outcome).toBeUndefined();
      expect(ended?.finish).toMatchObject({outcome: 'back', code: 'host_busy', pauseMs: 2000});
    }
    // It has told another one to stay away for an hour.
    const away = refused('host_busy', {host: 'a.example', reason: 'pause', retry_after: '3000'});
    expect((await fetchWith(away)).ended).toMatchObject({
      outcome: {result: {error: {code: 'host_busy'}}},
      finish: {outcome: 'aside', pauseMs: 300_000},
    });
  });

  test('S1 Retry-After is a pause of the host, and who asks for more than five minutes is set aside', async () => {
    const asked = (retry_after: string) => refused('http_4xx', {status: 429, retry_after});
    const {ended} = await fetchWith({...asked('60'), error: {...asked('60').error, retryable: true}});
    expect(ended?.finish).toMatchObject({outcome: 'again', pauseMs: 60_000, delayMs: 60_500});
    expect((await fetchWith(asked('301'))).ended?.finish).toMatchObject({outcome: 'aside', pauseMs: 300_000});
  });

  test('S1 without the engine, and where the worker stops, nobody was asked', async () => {
    const away = await fetchWith(refused('hub_unavailable'), {leased: {attempt: 3}});
    expect(away.ended?.finish).toMatchObject({outcome: 'back'});
    const signal = AbortSignal.abort();
    const stopped = await fetchWith(refused('cancelled'), {hold: {signal, isStopped: () => true}});
    expect(stopped.ended?.finish).toMatchObject({outcome: 'back'});
    expect([away.ended?.outcome, stopped.ended?.outcome]).toEqual([undefined, undefined]);
  });

  test('S1 nothing is said of an address whose lease has ended', async () => {
    const {ended} = await fetchWith(refused('cancelled'), {hold: {signal: AbortSignal.abort()}});
    expect(ended).toBeUndefined();
  });

  test('S1 an address that ten workers had, or whose host was given up, is not asked for', async () => {
    const taken = await fetchWith(page('text'), {leased: {attempt: 11}});
    expect(taken.read).toEqual([]);
    expect(taken.ended).toMatchObject({
      outcome: {result: {error: {code: 'timeout'}}},
      finish: {outcome: 'failed', code: 'timeout'},
    });
    const aside = await fetchWith(page('text'), {leased: {aside: true}});
    expect(aside.read).toEqual([]);
    expect(aside.ended?.outcome?.result).toMatchObject({error: {code: 'http_4xx', retryable: true}});
  });
});
