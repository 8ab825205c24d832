import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {needs} from '../../test/support/parts.ts';
import {hubSettings, type RedisEngine, startRedis} from '../../test/support/redis-engine.ts';
import {systemClock} from '../core/clock.ts';
import type {HostLease} from '../core/replicas.ts';
import {fail, type Result} from '../core/result.ts';
import {type HubConnection, openHubConnection} from './connection.ts';
import {HostGate} from './host-gate.ts';
import type {HubSettings} from './options.ts';

const {signal} = new AbortController();
const terms = {signal, waitMs: 5000, leaseMs: 10_000};

/** An engine that is not there. */
const gone: HubConnection = {
  run: async () => fail('hub_unavailable', 'gone'),
  runBuffers: async () => fail('hub_unavailable', 'gone'),
  key: (...parts) => parts.join(':'),
  subscribe: async () => async () => {},
  close: async () => {},
};

function gate(hub: HubConnection, settings: Partial<HubSettings>, replicas = 1, owner = 'r'): HostGate {
  return new HostGate(hub, hubSettings(settings), {clock: systemClock, owner, replicas: () => replicas});
}

function leaseOf(entered: Result<HostLease>): HostLease {
  if (!entered.ok) throw new Error(entered.error.message);
  return entered.value;
}

test('S1 without the engine a replica keeps its part of the maximum', async () => {
  const alone = gate(gone, {max_per_host: 4, host_gap_ms: 0}, 2);
  const first = leaseOf(await alone.enter('a.test', terms));
  expect(first.unavailable).toBe(true);
  leaseOf(await alone.enter('a.test', terms));
  expect(await alone.enter('a.test', {...terms, waitMs: 100})).toMatchObject({error: {code: 'host_busy'}});
  leaseOf(await alone.enter('b.test', terms));
  first.leave();
  leaseOf(await alone.enter('a.test', terms));
});

test('S1 without the engine the gap is as many times longer as there are replicas', async () => {
  const alone = gate(gone, {max_per_host: 64, host_gap_ms: 50}, 4);
  const start = performance.now();
  leaseOf(await alone.enter('a.test', terms)).leave();
  leaseOf(await alone.enter('a.test', terms)).leave();
  expect(performance.now() - start).toBeGreaterThan(190);
});

test('S1 without the engine a pause holds for this replica', async () => {
  const alone = gate(gone, {host_gap_ms: 0});
  leaseOf(await alone.enter('a.test', terms)).leave(60_000);
  expect(await alone.enter('a.test', terms)).toMatchObject({
    error: {code: 'host_busy', details: {reason: 'pause', retry_after: '60'}},
  });
});

test('S1 where the engine is required nobody is asked without it', async () => {
  const strict = gate(gone, {required: true});
  expect(await strict.enter('a.test', terms)).toMatchObject({error: {code: 'hub_unavailable'}});
});

test('S1 who is cancelled in the line leaves it to those behind', async () => {
  const alone = gate(gone, {max_per_host: 1, host_gap_ms: 0});
  const first = leaseOf(await alone.enter('a.test', terms));
  const controller = new AbortController();
  const waiting = [
    alone.enter('a.test', terms),
    alone.enter('a.test', {...terms, signal: controller.signal}),
  ];
  const last = alone.enter('a.test', terms);
  controller.abort();
  expect(await waiting[1]).toMatchObject({error: {code: 'cancelled'}});
  first.leave();
  const [second] = await Promise.all(waiting);
  if (second) leaseOf(second).leave();
  leaseOf(await last).leave();
});

describe('S1 with the engine', needs('Redis'), () => {
  let engine: RedisEngine;
  let hub: HubConnection;
  beforeAll(async () => {
    engine = await startRedis();
    const deps = {env: {}, clock: systemClock, log: () => {}};
    const opened = await openHubConnection(hubSettings({url: engine.url}), deps);
    if (!opened.ok) throw new Error(opened.error.message);
    hub = opened.value;
  });
  afterAll(async () => {
    await hub.close();
    await engine.stop();
  });

  test('S1 the place of a replica that was killed is free when its lease is over', async () => {
    const settings = {max_per_host: 1, host_gap_ms: 0};
    leaseOf(await gate(hub, settings, 1, 'killed').enter('killed.test', {...terms, leaseMs: 300}));
    const start = performance.now();
    leaseOf(await gate(hub, settings, 1, 'other').enter('killed.test', terms)).leave();
    expect(performance.now() - start).toBeGreaterThan(150);
  });

  test('S1 a host of which the engine holds nonsense is asked all the same', async () => {
    const poison =
      "redis.call('HSET', KEYS[1], 'next', ARGV[1], 'pause', ARGV[1]) redis.call('SET', KEYS[2], 'x') return 1";
    for (const wrong of ['1e300', 'nan', 'inf', '-1', '{}']) {
      await hub.run(
        {name: 'poison', lua: poison},
        [hub.key('g', 'h', 'odd.test'), hub.key('g', 'x')],
        [wrong],
      );
      leaseOf(await gate(hub, {host_gap_ms: 0}, 1, wrong).enter('odd.test', terms)).leave();
    }
  });

  test('S1 a pause that the server asks for is no longer than an hour', async () => {
    const patient = gate(hub, {host_gap_ms: 0});
    leaseOf(await patient.enter('long.test', terms)).leave(Number.POSITIVE_INFINITY);
    await patient.close();
    onTestFinished(() => patient.close());
    const other = await gate(hub, {host_gap_ms: 0}, 1, 'other').enter('long.test', terms);
    expect(other).toMatchObject({error: {code: 'host_busy', details: {reason: 'pause'}}});
    expect(Number(!other.ok && other.error.details['retry_after'])).toBeLessThanOrEqual(3600);
  });
});
