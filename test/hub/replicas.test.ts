import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest';
import {systemClock} from '../../src/core/clock.ts';
import {openHubConnection} from '../../src/hub/connection.ts';
import type {HubSettings} from '../../src/hub/options.ts';
import {openReplica, type ReplicaOptions, startOrigin} from '../support/fleet.ts';
import {codeOf, unwrap} from '../support/outcome.ts';
import {hubSettings, REDIS_SERVER, type RedisEngine, startRedis} from '../support/redis-engine.ts';

const FREE: Partial<HubSettings> = {host_gap_ms: 0, max_per_host: 64};

/** One command of the engine, by a script. */
async function command(engine: RedisEngine, ...words: readonly string[]): Promise<unknown> {
  const deps = {env: {}, clock: systemClock, log: () => {}};
  const hub = unwrap(await openHubConnection(hubSettings({url: engine.url}), deps));
  const lua = `return redis.call(${words.map((_, index) => `ARGV[${index + 1}]`).join(', ')})`;
  const answer = unwrap(await hub.run({name: 'command', lua}, [], words));
  await hub.close();
  return answer;
}

describe.runIf(REDIS_SERVER !== undefined)('S1 replicas', () => {
  let engine: RedisEngine;
  beforeAll(async () => {
    engine = await startRedis();
  });
  afterAll(() => engine.stop());
  beforeEach(() => command(engine, 'FLUSHALL'));

  const replicas = (count: number, options: ReplicaOptions) =>
    Array.from({length: count}, () => openReplica({url: engine.url, ...options}));

  test('S1 8 replicas with 1,000 clients on 100 pages fetch each page and robots.txt once', {
    tags: 'slow',
  }, async () => {
    const origin = await startOrigin();
    const fleet = replicas(8, {port: origin.port, ...FREE});
    const fetches = Array.from({length: 1000}, (_, index) =>
      fleet[index % 8]?.webFetch({url: origin.url(`/page-${index % 100}`)}),
    );
    const answers = await Promise.all(fetches);
    for (const [index, answer] of answers.entries()) {
      expect(answer?.ok && answer.value.chunks[0]?.text).toContain(`The text of /page-${index % 100}.`);
    }
    expect(origin.pages()).toHaveLength(100);
    expect(origin.robots()).toHaveLength(1);
  });

  test('S1 keeps the gap and the maximum of a host across replicas, robots.txt and redirects included', async () => {
    const origin = await startOrigin((request, response) => {
      if (request.url?.startsWith('/to')) response.writeHead(302, {Location: '/reached'}).end();
      else response.writeHead(200, {'Content-Type': 'text/plain'}).end('reached');
    }, 250);
    const fleet = replicas(4, {port: origin.port, host_gap_ms: 100, max_per_host: 2});
    const answers = await Promise.all(
      fleet.flatMap((replica, index) =>
        ['a', 'b'].map(name =>
          replica.webFetch({url: origin.url(`/${name === 'a' ? 'to' : 'page'}-${index}`)}),
        ),
      ),
    );
    expect(answers.map(codeOf)).toEqual(answers.map(() => 'ok'));
    expect(origin.shortestGap()).toBeGreaterThan(80);
    expect(origin.mostAtOnce()).toBe(2);
  });

  test('S1 what one replica was told by Retry-After holds for all at once', async () => {
    let refusals = 0;
    const origin = await startOrigin((_, response) => {
      refusals += 1;
      response.writeHead(429, {'Retry-After': '30'}).end();
    });
    const [one, other] = replicas(2, {port: origin.port, ...FREE, timeoutSeconds: 5});
    expect(await one?.webFetch({url: origin.url('/a')})).toMatchObject({error: {code: 'http_4xx'}});
    const told = await other?.webFetch({url: origin.url('/b')});
    expect(told).toMatchObject({ok: false, error: {code: 'host_busy', details: {reason: 'pause'}}});
    expect(refusals).toBe(1);
    expect(codeOf(unwrapOptional(await other?.webFetch({url: origin.url('/b', 'two.test')})))).toBe(
      'http_4xx',
    );
  });
});

function unwrapOptional<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('Expected a value');
  return value;
}
