import {afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test} from 'vitest';
import {needs} from '../../test/support/parts.ts';
import {hubSettings, type RedisEngine, startRedis} from '../../test/support/redis-engine.ts';
import {systemClock} from '../core/clock.ts';
import type {Obtained, Turn} from '../core/replicas.ts';
import {type HubConnection, openHubConnection} from './connection.ts';
import type {HubSettings} from './options.ts';
import {SharedBodies} from './shared-bodies.ts';

const TTL = 60_000;
const {signal} = new AbortController();
const terms = {signal, waitMs: 20_000};

function turnOf(obtained: Obtained): Turn {
  if (obtained.kind !== 'turn') throw new Error(`Expected a turn, got ${obtained.kind}`);
  return obtained.turn;
}

describe('S1 bodies that replicas share', needs('Redis'), () => {
  let engine: RedisEngine;
  let hub: HubConnection;
  let owners = 0;

  const connect = async (settings: Partial<HubSettings> = {}): Promise<HubConnection> => {
    const deps = {env: {}, clock: systemClock, log: () => {}};
    const opened = await openHubConnection(hubSettings({url: engine.url, ...settings}), deps);
    if (!opened.ok) throw new Error(opened.error.message);
    return opened.value;
  };
  const replica = (settings: Partial<HubSettings> = {}): SharedBodies => {
    owners += 1;
    const bodies = new SharedBodies(
      hub,
      hubSettings({budget_ms: 5000, ...settings}),
      `r${owners}`,
      systemClock,
    );
    onTestFinished(() => bodies.close());
    return bodies;
  };
  const raw = async (...words: readonly (string | Buffer)[]): Promise<unknown> => {
    const lua = `return redis.call(${words.map((_, index) => `ARGV[${index + 1}]`).join(', ')})`;
    const answer = await hub.run({name: 'raw', lua}, [], words);
    if (!answer.ok) throw new Error(JSON.stringify(answer.error));
    return answer.value;
  };
  const bodyKey = async (): Promise<string> => {
    const keys = (await raw('KEYS', '*:b:*')) as readonly string[];
    return keys[0] ?? '';
  };

  beforeAll(async () => {
    engine = await startRedis();
    hub = await connect();
  });
  afterAll(async () => {
    await hub.close();
    await engine.stop();
  });
  beforeEach(() => raw('FLUSHALL'));

  test('S1 one has the turn, and the others get what it has put', async () => {
    const [one, two, three] = [replica(), replica(), replica()];
    const turn = turnOf(await one.obtain('page', terms));
    const waiting = [two.obtain('page', terms), three.obtain('page', terms)];
    expect(await turn.put(Buffer.from('text'), TTL)).toBe(true);
    await turn.end();
    for (const obtained of await Promise.all(waiting)) {
      expect(obtained).toMatchObject({kind: 'found', bytes: Buffer.from('text')});
    }
  });

  test('S1 whoever ends a turn with nothing to share makes nobody wait', {tags: 'slow'}, async () => {
    const turn = turnOf(await replica().obtain('page', terms));
    const waiting = replica().obtain('page', terms);
    await turn.end();
    expect((await waiting).kind).toMatch(/alone|turn/);
  });

  test('S1 a leader that is dead is replaced, and what it says later does not count', async () => {
    const dead = turnOf(await replica().obtain('page', {...terms}));
    const [held = ''] = (await raw('KEYS', '*:f:*')) as readonly string[];
    await raw('PEXPIRE', held, '30');
    const next = turnOf(await replica().obtain('page', terms));
    expect(await next.put(Buffer.from('new'), TTL)).toBe(true);
    expect(await dead.put(Buffer.from('old'), TTL)).toBe(false);
    await dead.end();
    expect(await raw('EXISTS', held)).toBe(1);
    await next.end();
    expect(await replica().obtain('page', terms)).toMatchObject({kind: 'found', bytes: Buffer.from('new')});
  });

  test('conformance V5: an empty body is none, and nothing older is put after it', async () => {
    const older = turnOf(await replica().obtain('page', terms));
    const newer = turnOf(await replica().obtain('page', {...terms, anew: true}));
    expect(await newer.put(Buffer.alloc(0), TTL)).toBe(true);
    expect(await older.put(Buffer.from('old'), TTL)).toBe(false);
    await older.end();
    expect((await replica().obtain('page', terms)).kind).toBe('turn');
  });

  test('S1 a fence grows after the engine has lost everything', async () => {
    const before = turnOf(await replica().obtain('page', terms));
    await raw('FLUSHALL');
    const after = turnOf(await replica().obtain('page', terms));
    await after.put(Buffer.from('new'), TTL);
    expect(await before.put(Buffer.from('old'), TTL)).toBe(false);
  });

  test('S1 a fence from far ahead, and a counter from there, block nothing', async () => {
    await turnOf(await replica().obtain('page', terms)).put(Buffer.from('text'), TTL);
    const key = await bodyKey();
    await raw('HSET', key, 'f', '9007199254740991');
    const place = key.slice(0, key.indexOf('}') + 1);
    await raw('SET', `${place}:fence`, '9007199254740991');
    await raw('DEL', key.replace(':b:', ':f:'));
    const obtained = await replica().obtain('page', {...terms, above: 9007199254740991});
    expect(await turnOf(obtained).put(Buffer.from('new'), TTL)).toBe(true);
  });

  test('S1 what is too large, empty, without an end, or of another kind is not there', async () => {
    await turnOf(await replica().obtain('page', terms)).put(Buffer.from('text'), TTL);
    const key = await bodyKey();
    const turnOfAnother = async (): Promise<string> => {
      await raw('DEL', key.replace(':b:', ':f:'));
      return (await replica({max_bytes: 16_777_216}).obtain('page', terms)).kind;
    };
    await raw('HSET', key, 'b', Buffer.alloc(300_000));
    expect(await turnOfAnother()).toBe('turn');
    await raw('HSET', key, 'b', '');
    expect(await turnOfAnother()).toBe('turn');
    await raw('HSET', key, 'b', 'text');
    await raw('PERSIST', key);
    expect(await turnOfAnother()).toBe('turn');
    await raw('SET', key, 'no hash');
    expect(await turnOfAnother()).toBe('alone');
  });

  test('S1 the sum of the bodies stays below its limit, and the least recently used go first', {
    tags: 'slow',
  }, async () => {
    const bodies = replica({max_bytes: 16_777_216});
    // Names of one shard, by its first digit.
    const names = Array.from({length: 400}, (_, index) => `page ${index}`);
    for (const name of names) {
      const turn = turnOf(await bodies.obtain(name, terms));
      await turn.put(Buffer.alloc(100_000, 1), TTL);
      await turn.end();
    }
    const sums = (await raw('KEYS', '*:sum')) as readonly string[];
    for (const key of sums) {
      const place = key.slice(0, -':sum'.length);
      const sum = Number(await raw('GET', key));
      const held = ((await raw('KEYS', `${place}:b:*`)) as readonly string[]).length;
      expect(sum).toBeLessThanOrEqual(1_048_576);
      expect(sum).toBe(held * 100_512);
      expect(await raw('ZCARD', `${place}:lru`)).toBe(held);
      expect(await raw('HLEN', `${place}:sizes`)).toBe(held);
    }
    expect((await bodies.obtain(names.at(-1) ?? '', terms)).kind).toBe('found');
    expect((await bodies.obtain(names[0] ?? '', terms)).kind).toBe('turn');
  });

  test('S1 a look that takes longer than its budget is a miss, and its late turn is given back', async () => {
    const own = await connect();
    onTestFinished(() => own.close());
    const bodies = new SharedBodies(own, hubSettings({budget_ms: 50}), 'late', systemClock);
    engine.pause();
    expect(await bodies.obtain('page', terms)).toEqual({kind: 'alone', unavailable: false});
    engine.goOn();
    await expect.poll(async () => ((await raw('KEYS', '*:fence')) as readonly string[]).length).toBe(1);
    await expect.poll(() => raw('KEYS', '*:f:*')).toEqual([]);
  });

  test('S1 a turn is renewed as long as it is held', {tags: 'stress'}, async () => {
    const turn = turnOf(await replica().obtain('page', terms));
    const [held = ''] = (await raw('KEYS', '*:f:*')) as readonly string[];
    await raw('PEXPIRE', held, '8000');
    await expect.poll(() => raw('PTTL', held), {timeout: 7000}).toBeGreaterThan(9000);
    await turn.end();
    expect(await raw('EXISTS', held)).toBe(0);
  });

  test('S1 whoever is cancelled, or has waited long enough, goes on alone', async () => {
    const turn = turnOf(await replica().obtain('page', terms));
    const controller = new AbortController();
    const waiting = replica().obtain('page', {...terms, signal: controller.signal});
    controller.abort();
    expect(await waiting).toEqual({kind: 'alone', unavailable: false});
    expect(await replica().obtain('page', {signal, waitMs: 20})).toEqual({kind: 'alone', unavailable: false});
    await turn.end();
  });
});
