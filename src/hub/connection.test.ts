import {afterAll, afterEach, beforeAll, describe, expect, test} from 'vitest';
import {hubSettings, REDIS_SERVER, type RedisEngine, startRedis} from '../../test/support/redis-engine.ts';
import {systemClock} from '../core/clock.ts';
import type {LogEvent} from '../core/log.ts';
import {type HubConnection, openHubConnection} from './connection.ts';
import type {HubSettings} from './options.ts';

const ECHO = {name: 'echo', lua: 'return {KEYS[1], ARGV[1], 7}'};
const logged: LogEvent[] = [];
const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  logged.length = 0;
});

async function connect(
  given: Partial<HubSettings>,
  env: Readonly<Record<string, string>> = {},
): Promise<HubConnection> {
  const opened = await openHubConnection(hubSettings(given), {
    env,
    clock: systemClock,
    log: event => logged.push(event),
  });
  if (!opened.ok) throw new Error(opened.error.message);
  closers.push(() => opened.value.close());
  return opened.value;
}

/** Until the hub answers again. */
async function answered(hub: HubConnection): Promise<void> {
  await expect
    .poll(async () => (await hub.run(ECHO, ['k'], [''])).ok, {timeout: 10_000, interval: 20})
    .toBe(true);
}

test('S1 a hub address with credentials, or one that is none, stops start-up and is not repeated', async () => {
  const deps = {env: {}, clock: systemClock, log: () => {}};
  for (const url of [
    'redis://me:sesame@127.0.0.1:6379',
    'http://sesame:1',
    'redis://h:1/0?password=sesame',
    '::',
  ]) {
    const opened = await openHubConnection(hubSettings({url}), deps);
    expect(opened).toMatchObject({ok: false, error: {code: 'hub_unavailable', retryable: false}});
    expect(JSON.stringify(opened)).not.toContain('sesame');
  }
});

describe.runIf(REDIS_SERVER !== undefined)('S1 a connection to the engine', () => {
  let engine: RedisEngine;
  beforeAll(async () => {
    engine = await startRedis();
  });
  afterAll(() => engine.stop());

  test('S1 runs a script with its keys, known to the engine or not', async () => {
    const hub = await connect({url: engine.url});
    expect(hub.key('g', 'h', 'example.com')).toBe('fw1:{g}:h:example.com');
    const fresh = {name: 'fresh', lua: `${ECHO.lua} -- ${process.pid}`};
    for (const script of [fresh, fresh, ECHO]) {
      expect(await hub.run(script, ['k'], ['a'])).toEqual({ok: true, value: ['k', 'a', 7]});
    }
  });

  test('S1 carries bytes that are no text', async () => {
    const hub = await connect({url: engine.url});
    const bytes = Buffer.from([0, 255, 13, 10, 128]);
    const echoed = await hub.runBuffers(ECHO, ['k'], [bytes]);
    expect(echoed).toEqual({ok: true, value: [Buffer.from('k'), bytes, 7]});
  });

  test('S1 hears what another replica publishes, and no more after it has left', async () => {
    const [one, other] = [await connect({url: engine.url}), await connect({url: engine.url})];
    const heard: string[] = [];
    const leave = await one.subscribe('fw1:test', message => heard.push(message));
    const publish = {name: 'publish', lua: "return redis.call('PUBLISH', 'fw1:test', ARGV[1])"};
    await other.run(publish, [], ['first']);
    await expect.poll(() => heard).toEqual(['first']);
    await leave();
    expect(await other.run(publish, [], ['second'])).toEqual({ok: true, value: 0});
  });

  test('S1 says hub_unavailable when the engine is killed, and is there again with it, subscriptions too', async () => {
    const own = await startRedis();
    closers.push(own.stop);
    const hub = await connect({url: own.url});
    const heard: string[] = [];
    await hub.subscribe('fw1:test', message => heard.push(message));
    await own.kill();
    const failed = await hub.run(ECHO, ['k'], ['a']);
    expect(failed).toMatchObject({ok: false, error: {code: 'hub_unavailable', retryable: true}});
    await own.start();
    await answered(hub);
    await hub.run({name: 'publish', lua: "return redis.call('PUBLISH', 'fw1:test', 'again')"}, [], []);
    await expect.poll(() => heard).toEqual(['again']);
    expect(logged.map(({event}) => event)).toEqual(['hub_unavailable', 'hub_connected']);
  });

  test('S1 an engine that is not there keeps nobody from starting', async () => {
    const hub = await connect({url: 'redis://127.0.0.1:1'});
    expect(await hub.run(ECHO, ['k'], [])).toMatchObject({
      ok: false,
      error: {details: {error: 'ECONNREFUSED'}},
    });
  });

  test('S1 an engine that stands still costs a command its time and no more', async () => {
    const own = await startRedis();
    closers.push(own.stop);
    const hub = await connect({url: own.url});
    own.pause();
    const failed = await hub.run(ECHO, ['k'], ['a'], {timeoutMs: 50});
    expect(failed).toMatchObject({ok: false, error: {code: 'hub_unavailable', details: {error: 'timeout'}}});
    own.goOn();
    await answered(hub);
  });

  test('S1 a password comes from the environment and is in no line', async () => {
    const own = await startRedis('--requirepass', 'sesame');
    closers.push(own.stop);
    const settings = {url: own.url, password_env: 'HUB_PASSWORD'};
    await answered(await connect(settings, {HUB_PASSWORD: 'sesame'}));
    const wrong = await connect(settings, {HUB_PASSWORD: 'tahini'});
    const failed = await wrong.run(ECHO, ['k'], ['a']);
    expect(failed).toMatchObject({ok: false, error: {details: {error: 'WRONGPASS'}}});
    expect(JSON.stringify([logged, failed, wrong])).not.toMatch(/tahini|sesame/);
    const unset = await openHubConnection(hubSettings(settings), {
      env: {},
      clock: systemClock,
      log: () => {},
    });
    expect(unset).toMatchObject({ok: false, error: {message: expect.stringContaining('HUB_PASSWORD')}});
  });
});
