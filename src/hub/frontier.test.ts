import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {codeOf} from '../../test/support/outcome.ts';
import {needs} from '../../test/support/parts.ts';
import {hubSettings, type RedisEngine, startRedis} from '../../test/support/redis-engine.ts';
import {systemClock} from '../core/clock.ts';
import {ok, type Result} from '../core/result.ts';
import {type HubConnection, type HubValue, openHubConnection} from './connection.ts';
import {type Frontier, type FrontierUrl, isJobName, type JobSettings, openFrontier} from './frontier.ts';

const SETTINGS: JobSettings = {
  gapMs: 0,
  perHost: 1,
  leaseMs: 60_000,
  maxPending: 1000,
  depth: 0,
  sameSite: false,
  tries: 3,
};

const page = (host: string, at: number): FrontierUrl => ({url: `https://${host}/${at}`, host, depth: 0});

function value<Value>(result: Result<Value>): Value {
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

test('S1 what no engine says of a lease is no answer', async () => {
  const terms = {lease: 60_000, depth: 0, tries: 3};
  const answer = (given: Partial<typeof terms>, now = 1): readonly HubValue[] => {
    const {lease, depth, tries} = {...terms, ...given};
    return ['running', 0, 'e', now, lease, depth, tries, 0, 1, 'h', '1 0 https://h/', 0];
  };
  const take = async (said: readonly HubValue[]) => {
    const connection = {key: (...parts: readonly string[]) => parts.join(':'), run: async () => ok(said)};
    return codeOf(await openFrontier(connection as unknown as HubConnection, 'job').take(4));
  };
  expect(await take(answer({}))).toBe('ok');
  for (const given of [
    {lease: 1e12},
    {lease: Number.POSITIVE_INFINITY},
    {lease: -1},
    {tries: 1e9},
    {depth: Number.NaN},
  ])
    expect(await take(answer(given)), JSON.stringify(given)).toBe('internal');
  const [state, wait, epoch, now, ...rest] = answer({});
  for (const strange of [
    [],
    [state, wait],
    [state, wait, epoch, Number.POSITIVE_INFINITY, ...rest],
    ['sideways', wait, epoch, now, ...rest],
    [...answer({}), 2, 'h', 'no entry', 0],
    [...answer({}), 2, 'h', `1 0 ${'x'.repeat(70_000)}`, 0],
    [...answer({}), '2', 'h', '1 0 https://h/2', 0],
  ])
    expect(await take(strange as readonly HubValue[]), JSON.stringify(strange).slice(0, 80)).toBe('internal');
});

test('S1 the name of a job is part of keys and files, and nothing else', () => {
  expect(['a', 'docs-2026.1', 'A_b'].every(isJobName)).toBe(true);
  expect(['', '.a', 'a/b', 'a b', 'a:{g}', '-a', 'a'.repeat(65)].some(isJobName)).toBe(false);
});

describe('S1 the frontier of a job', needs('Redis'), () => {
  let engine: RedisEngine;
  let connection: HubConnection;
  let jobs = 0;

  beforeAll(async () => {
    engine = await startRedis();
    connection = value(
      await openHubConnection(hubSettings({url: engine.url}), {env: {}, clock: systemClock, log: () => {}}),
    );
  });
  afterAll(async () => {
    await connection.close();
    await engine.stop();
  });

  async function open(given: Partial<JobSettings> = {}): Promise<{
    readonly frontier: Frontier;
    readonly epoch: string;
    readonly listed: () => Promise<void>;
    readonly key: (part: string) => string;
    readonly engineDo: (...command: readonly string[]) => Promise<unknown>;
  }> {
    jobs += 1;
    const job = `job-${jobs}`;
    const frontier = openFrontier(connection, job);
    const {epoch, listed} = value(await frontier.start({...SETTINGS, ...given}));
    const key = (part: string): string => connection.key('g', 'j', job, part);
    const engineDo = async (...command: readonly string[]): Promise<unknown> =>
      value(await connection.run({name: 'do', lua: 'return redis.call(unpack(ARGV))'}, [], command));
    // The pause that a new job begins with is a matter of its own.
    await engineDo('HSET', key('n'), 'hold', '0');
    return {frontier, epoch, key, engineDo, listed: async () => void value(await listed())};
  }

  test('S1 an address is given out once, whoever adds and takes it', async () => {
    const {frontier, epoch, listed} = await open({perHost: 8});
    const urls = Array.from({length: 100}, (_, at) => page(`h${at % 10}`, at));
    expect(value(await frontier.add(epoch, urls))).toEqual({state: 'ok', added: 100, known: 0, read: 100});
    expect(value(await frontier.add(epoch, urls))).toEqual({state: 'ok', added: 0, known: 100, read: 100});
    await listed();
    const taken: string[] = [];
    await Promise.all(
      Array.from({length: 4}, async () => {
        for (;;) {
          const {state, urls: got} = value(await frontier.take(7));
          if (state === 'finished') return;
          taken.push(...got.map(({url}) => url));
          const ends = got.map(leased => ({leased, outcome: 'done'}) as const);
          expect(value(await frontier.finish(ends))).toEqual(got.map(() => true));
        }
      }),
    );
    expect(taken.sort()).toEqual(urls.map(({url}) => url).sort());
    expect(value(await frontier.status())).toMatchObject({
      state: 'finished',
      done: 100,
      pending: 0,
      leased: 0,
    });
  });

  test('S1 a job that is full says how far it read, and goes on when there is room', async () => {
    const {frontier, epoch} = await open({maxPending: 3});
    const urls = Array.from({length: 5}, (_, at) => page(`h${at}`, at));
    expect(value(await frontier.add(epoch, urls))).toMatchObject({state: 'full', added: 3, read: 3});
    // What is known takes no room.
    expect(value(await frontier.add(epoch, urls.slice(0, 3)))).toMatchObject({state: 'ok', known: 3});
    value(await frontier.take(2));
    expect(value(await frontier.add(epoch, urls.slice(3)))).toMatchObject({state: 'ok', added: 2});
  });

  test('S1 a host is asked by no more than its places, and not before its gap', async () => {
    const {frontier, epoch} = await open({gapMs: 60_000, perHost: 2});
    await frontier.add(
      epoch,
      [0, 1, 2].map(at => page('one', at)),
    );
    const first = value(await frontier.take(5));
    expect(first.urls).toHaveLength(1);
    const second = value(await frontier.take(5));
    expect(second.urls).toEqual([]);
    expect(second.waitMs).toBeGreaterThan(0);
  });

  test('S1 with one place, the gap begins at the end of the request before', async () => {
    const {frontier, epoch, engineDo, key} = await open({gapMs: 30_000});
    await frontier.add(
      epoch,
      [0, 1].map(at => page('one', at)),
    );
    const [leased] = value(await frontier.take(1)).urls;
    // The request took longer than its gap.
    await engineDo('ZREM', key('nx'), 'one');
    if (leased) await frontier.finish([{leased, outcome: 'done'}]);
    expect(value(await frontier.take(1)).urls).toEqual([]);
    expect(Number(await engineDo('ZSCORE', key('hosts'), 'one'))).toBeGreaterThan(20_000);
  });

  test('S1 hosts with all places taken come back when one is free', async () => {
    const {frontier, epoch} = await open({perHost: 2});
    await frontier.add(
      epoch,
      [0, 1, 2].map(at => page('one', at)),
    );
    const [a] = value(await frontier.take(1)).urls;
    const [b] = value(await frontier.take(1)).urls;
    expect(value(await frontier.take(1)).urls).toEqual([]);
    // Added while it has no place: not offered either.
    await frontier.add(epoch, [page('one', 9)]);
    expect(value(await frontier.take(1)).urls).toEqual([]);
    if (a) await frontier.finish([{leased: a, outcome: 'done'}]);
    expect(value(await frontier.take(2)).urls.map(({url}) => url)).toEqual(['https://one/2']);
    expect(b?.url).toBe('https://one/1');
  });

  test('S1 a lease that ends is taken again by anyone, and the late end of it changes nothing', async () => {
    const {frontier, epoch, engineDo, key, listed} = await open();
    await frontier.add(epoch, [page('one', 0)]);
    await listed();
    const [first] = value(await frontier.take(1)).urls;
    expect(first).toMatchObject({attempt: 1, depth: 0});
    expect(value(await frontier.take(1)).urls).toEqual([]);
    await engineDo('ZADD', key('lx'), '1', String(first?.fence));
    const [second] = value(await frontier.take(1)).urls;
    expect(second).toMatchObject({url: 'https://one/0', attempt: 2});
    if (!first || !second) throw new Error('Expected two grants');
    expect(value(await frontier.finish([{leased: first, outcome: 'done'}]))).toEqual([false]);
    expect(value(await frontier.status())).toMatchObject({done: 0, leased: 1, expired: 1});
    expect(
      value(
        await frontier.finish([
          {leased: second, outcome: 'failed', code: 'http_4xx'},
          {leased: second, outcome: 'done'},
        ]),
      ),
    ).toEqual([true, false]);
    expect(value(await frontier.status())).toMatchObject({
      state: 'finished',
      failed: 1,
      errors: {http_4xx: 1},
    });
  });

  test('S1 Retry-After is a pause of the host for every worker, and the try comes later', async () => {
    const {frontier, epoch, engineDo, key} = await open({perHost: 4});
    await frontier.add(
      epoch,
      [0, 1, 2].map(at => page('one', at)),
    );
    const [leased] = value(await frontier.take(1)).urls;
    if (!leased) throw new Error('Expected a grant');
    const end = {leased, outcome: 'again', code: 'http_4xx', pauseMs: 50_000, delayMs: 50_000} as const;
    expect(value(await frontier.finish([end]))).toEqual([true]);
    expect(value(await frontier.take(4)).urls).toEqual([]);
    expect(value(await frontier.status())).toMatchObject({later: 1, hosts: {waiting: 1}});
    for (const part of ['d', 'hosts']) {
      for (const member of (await engineDo('ZRANGE', key(part), '0', '-1')) as readonly string[])
        await engineDo('ZADD', key(part), '1', member);
    }
    await engineDo('DEL', key('nx'));
    const again: string[] = [];
    for (let takes = 0; takes < 3; takes += 1) {
      again.push(...value(await frontier.take(1)).urls.map(({url, attempt}) => `${url} ${attempt}`));
    }
    expect(again).toEqual(['https://one/1 1', 'https://one/2 1', 'https://one/0 2']);
  });

  test('S1 an address that nobody asked for keeps its place and its tries, and its host has refused nothing', async () => {
    const {frontier, epoch, engineDo, key} = await open();
    await frontier.add(
      epoch,
      [0, 1].map(at => page('one', at)),
    );
    for (let times = 0; times < 8; times += 1) {
      await engineDo('DEL', key('nx'));
      await engineDo('ZADD', key('hosts'), '1', 'one');
      const [leased] = value(await frontier.take(1)).urls;
      expect(leased).toMatchObject({url: 'https://one/0', attempt: 1, aside: false});
      await engineDo('DEL', key('nx'));
      if (leased) await frontier.finish([{leased, outcome: 'back', code: 'host_busy', pauseMs: 9000}]);
      expect(value(await frontier.take(1)).urls).toEqual([]);
    }
    expect(value(await frontier.status())).toMatchObject({
      pending: 2,
      errors: {host_busy: 8},
      hosts: {aside: 0},
    });
  });

  test('S1 a host that asks for a pause six times in a row is given up, and what waits for it is told so', async () => {
    const {frontier, epoch, engineDo, key} = await open({gapMs: 1});
    await frontier.add(
      epoch,
      Array.from({length: 9}, (_, at) => page('one', at)),
    );
    for (let times = 0; times < 6; times += 1) {
      await engineDo('DEL', key('nx'));
      await engineDo('ZADD', key('hosts'), '1', 'one');
      const [leased] = value(await frontier.take(1)).urls;
      if (!leased) throw new Error('Expected a grant');
      expect(leased.aside).toBe(false);
      // The script looks at when the host may be asked next: the pause before this one is over.
      await engineDo('DEL', key('nx'));
      await frontier.finish([{leased, outcome: 'failed', code: 'http_4xx', pauseMs: 10}]);
    }
    const aside = [];
    for (let takes = 0; takes < 3; takes += 1) aside.push(...value(await frontier.take(1)).urls);
    expect(aside.map(leased => leased.aside)).toEqual([true, true, true]);
    expect(value(await frontier.status())?.hosts.aside).toBe(1);
  });

  test('S1 a job that is paused gives out nothing, and one that is cancelled keeps nothing', async () => {
    const {frontier, epoch, engineDo, key} = await open();
    await frontier.add(
      epoch,
      Array.from({length: 20}, (_, at) => page(`h${at}`, at)),
    );
    const [leased] = value(await frontier.take(1)).urls;
    expect(value(await frontier.setState('paused'))).toBe('paused');
    expect(value(await frontier.take(1))).toMatchObject({state: 'paused', urls: []});
    expect(value(await frontier.setState('running'))).toBe('running');
    expect(value(await frontier.take(1)).urls).toHaveLength(1);
    expect(value(await frontier.cancel())).toBe('cancelled');
    expect(value(await frontier.take(1))).toMatchObject({state: 'cancelled', urls: []});
    expect(value(await frontier.add(epoch, [page('h', 99)]))).toMatchObject({state: 'cancelled', added: 0});
    if (leased) expect(value(await frontier.finish([{leased, outcome: 'back'}]))).toEqual([false]);
    expect(await engineDo('KEYS', key('*'))).toEqual([key('n')]);
    // The name may be used again.
    expect(value(await frontier.start(SETTINGS)).made).toBe(true);
  });

  test('S1 a job that is cancelled while workers take, finish and add keeps nothing of what they say', async () => {
    const {frontier, epoch, engineDo, key, listed} = await open({perHost: 4, maxPending: 100_000});
    const pages = (from: number): readonly FrontierUrl[] =>
      Array.from({length: 200}, (_, at) => page(`h${(from + at) % 900}`, from + at));
    for (let from = 0; from < 1800; from += 200) await frontier.add(epoch, pages(from));
    await listed();
    let given = 0;
    const worker = async (from: number): Promise<string> => {
      for (let next = from; ; next += 200) {
        const {state, urls} = value(await frontier.take(20));
        if (state !== 'running') return state;
        given += urls.length;
        value(await frontier.add(epoch, pages(next)));
        value(await frontier.finish(urls.map(leased => ({leased, outcome: 'back'}))));
      }
    };
    const working = Array.from({length: 4}, (_, at) => worker(10_000 * (at + 1)));
    await expect.poll(() => given).toBeGreaterThan(100);
    expect(value(await frontier.cancel())).toBe('cancelled');
    expect(new Set(await Promise.all(working))).toEqual(new Set(['cancelled']));
    expect(await engineDo('KEYS', key('*'))).toEqual([key('n')]);
  });

  test('S1 a job that is not there is gone, and no lease of its life before holds in the next', async () => {
    const {frontier, epoch, engineDo, key} = await open();
    await frontier.add(epoch, [page('one', 0)]);
    const [leased] = value(await frontier.take(1)).urls;
    await engineDo('FLUSHALL');
    expect(value(await frontier.take(1)).state).toBe('gone');
    expect(value(await frontier.status())).toBeUndefined();
    expect(value(await frontier.setState('paused'))).toBe('gone');
    expect(value(await frontier.add(epoch, [page('one', 0)])).state).toBe('gone');
    const again = value(await frontier.start(SETTINGS));
    expect(again.made).toBe(true);
    await frontier.add(again.epoch, [page('one', 0)]);
    // Its hosts may have been asked a moment ago.
    expect(value(await frontier.take(1))).toMatchObject({urls: [], state: 'running'});
    await engineDo('HSET', key('n'), 'hold', '0');
    const [second] = value(await frontier.take(1)).urls;
    expect(second?.fence).toBe(leased?.fence);
    if (leased) expect(value(await frontier.finish([{leased, outcome: 'done'}]))).toEqual([false]);
  });

  test('S1 another engine makes every host wait once', async () => {
    const {frontier, epoch, engineDo, key} = await open();
    await frontier.add(epoch, [page('one', 0), page('two', 1)]);
    expect(value(await frontier.take(1)).urls).toHaveLength(1);
    await engineDo('HSET', key('n'), 'run', 'f'.repeat(40));
    const held = value(await frontier.take(1));
    expect(held.urls).toEqual([]);
    expect(held.waitMs).toBeGreaterThan(900);
  });

  // Seed 8 of the schedules of faults: an engine that came back as it was before the first address was taken.
  test('S1 an engine that has lost what was taken first makes every host wait too', async () => {
    const {frontier, epoch, engineDo, key} = await open();
    await frontier.add(epoch, [page('one', 0), page('two', 1)]);
    await engineDo('COPY', key('n'), key('before'));
    expect(value(await frontier.take(1)).urls).toHaveLength(1);
    await engineDo('RENAME', key('before'), key('n'));
    const known = await engineDo('HGET', key('n'), 'run');
    expect(await engineDo('INFO', 'server')).toContain(`run_id:${known}\r\n`);
    // Of that engine, the job has heard before; this one is another.
    await engineDo('HSET', key('n'), 'run', 'f'.repeat(40));
    const held = value(await frontier.take(1));
    expect(held.urls).toEqual([]);
    expect(held.waitMs).toBeGreaterThan(900);
  });

  test('S1 a job whose list was not read to its end does not finish', async () => {
    const {frontier, listed} = await open();
    expect(value(await frontier.take(1)).state).toBe('running');
    const second = value(await frontier.start(SETTINGS));
    await listed();
    expect(value(await frontier.take(1)).state).toBe('running');
    expect(value(await second.listed())).toBe(true);
    expect(value(await frontier.take(1)).state).toBe('finished');
  });

  test('S1 an address that waits takes less than 200 bytes', async () => {
    const {frontier, epoch, engineDo} = await open({maxPending: 100_000});
    const used = async (): Promise<number> =>
      Number(/used_memory:(\d+)/.exec(String(await engineDo('INFO', 'memory')))?.[1]);
    const before = await used();
    const count = 20_000;
    for (let from = 0; from < count; from += 200) {
      const urls = Array.from({length: 200}, (_, at) => {
        const host = `www.host-${at}.example.com`;
        return {url: `https://${host}/section/some-page-of-it/${from + at}`, host, depth: 0};
      });
      await frontier.add(epoch, urls);
    }
    expect(((await used()) - before) / count).toBeLessThan(200);
  });
});
