import {afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test} from 'vitest';
import {systemClock} from '../../src/core/clock.ts';
import {openHubConnection} from '../../src/hub/connection.ts';
import type {HubSettings} from '../../src/hub/options.ts';
import {createCertificateAuthority} from '../support/certificates.ts';
import {startFaultProxy} from '../support/fault-proxy.ts';
import {openReplica, type ReplicaOptions, startOrigin} from '../support/fleet.ts';
import {startHttpServer} from '../support/http-server.ts';
import {codeOf, unwrap} from '../support/outcome.ts';
import {needs} from '../support/parts.ts';
import {hubSettings, type RedisEngine, startRedis} from '../support/redis-engine.ts';

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

describe('S1 replicas', needs('Redis'), () => {
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

  test('red team G5: pages and robots.txt of an opened host are not in the engine', async () => {
    const origin = await startOrigin();
    const [one] = replicas(1, {port: origin.port, ...FREE, opensLocalhost: true});
    const answer = await one?.webFetch({url: origin.url('/inside', 'localhost')});
    expect(answer?.ok).toBe(true);
    expect(origin.robots()).toHaveLength(1);
    expect(await command(engine, 'KEYS', '*:b:*')).toEqual([]);
  });

  test('S1 what a redirect led to is taken under its own address, and nothing is kept under the other', async () => {
    const origin = await startOrigin((request, response) => {
      if (request.url === '/old') response.writeHead(301, {Location: '/new'}).end();
      else response.writeHead(200, {'Content-Type': 'text/plain'}).end(`The text of ${request.url}.`);
    });
    const [one, other, third] = replicas(3, {port: origin.port, ...FREE});
    const paths = (): readonly string[] => origin.pages().map(({path}) => path);
    expect(await one?.webFetch({url: origin.url('/old')})).toMatchObject({
      ok: true,
      value: {final_url: origin.url('/new'), notes: []},
    });
    expect(paths()).toEqual(['/old', '/new']);
    const taken = await other?.webFetch({url: origin.url('/new')});
    expect(taken).toMatchObject({
      ok: true,
      value: {notes: ['cache_hit'], chunks: [{text: 'The text of /new.'}]},
    });
    expect(paths()).toEqual(['/old', '/new']);
    await third?.webFetch({url: origin.url('/old')});
    expect(paths()).toEqual(['/old', '/new', '/old', '/new']);
  });

  test('conformance V5: after a refresh that is redirected, no replica has the page from before', async () => {
    let isMoved = false;
    const origin = await startOrigin((request, response) => {
      const isAway = isMoved && request.url === '/page';
      if (isAway) response.writeHead(302, {Location: '/new'}).end();
      else response.writeHead(200, {'Content-Type': 'text/plain'}).end(`The text of ${request.url}.`);
    });
    const [one, other] = replicas(2, {port: origin.port, ...FREE});
    const url = origin.url('/page');
    const read = async (replica: typeof one, no_cache: boolean) =>
      unwrapOptional(await replica?.webFetch({url, no_cache}));
    expect(await read(one, false)).toMatchObject({value: {chunks: [{text: 'The text of /page.'}]}});
    isMoved = true;
    expect(await read(one, true)).toMatchObject({value: {chunks: [{text: 'The text of /new.'}]}});
    expect(await read(other, false)).toMatchObject({value: {chunks: [{text: 'The text of /new.'}]}});
  });

  test('S1 a host that is kept busy is no robots.txt that says nothing', async () => {
    let release: () => void = () => {};
    const origin = await startOrigin((_, response) => {
      release = () => response.writeHead(200, {'Content-Type': 'text/plain'}).end('Late.');
    });
    const options = {port: origin.port, host_gap_ms: 0, max_per_host: 1};
    const [one] = replicas(1, {...options, timeoutSeconds: 40});
    const late = one?.webFetch({url: origin.url('/late')});
    await expect.poll(() => origin.pages().length, {timeout: 10_000}).toBe(1);
    // Nobody knows the robots.txt any more.
    for (const key of (await command(engine, 'KEYS', '*:b:*')) as readonly string[])
      await command(engine, 'DEL', key);
    // A busy machine needs a moment to reach the engine.
    const [other] = replicas(1, {...options, timeoutSeconds: 4});
    expect(codeOf(unwrapOptional(await other?.webFetch({url: origin.url('/page')})))).toBe('host_busy');
    release();
    expect(codeOf(unwrapOptional(await late))).toBe('ok');
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

  test('S1 a page that no rule of ours lets through is not taken from another replica', async () => {
    const origin = await startOrigin();
    const [one] = replicas(1, {port: origin.port, ...FREE});
    const url = origin.url('/page');
    expect(codeOf(unwrapOptional(await one?.webFetch({url})))).toBe('ok');
    // This one's resolver leads the host to an address that is blocked.
    const strict = openReplica({url: engine.url, port: origin.port, ...FREE, address: '10.0.0.1'});
    expect(codeOf(await strict.webFetch({url}))).toBe('ssrf_blocked');
  });

  test('S1, red team G9: a poisoned, torn or oversized entry is a miss', async () => {
    const origin = await startOrigin();
    const url = origin.url('/page');
    const fetchAnew = async (): Promise<string> => {
      const [fresh] = replicas(1, {port: origin.port, ...FREE});
      const answer = unwrap(unwrapOptional(await fresh?.webFetch({url})));
      await fresh?.close();
      return answer.chunks.map(({text}) => text).join();
    };
    const good = await fetchAnew();
    const pages = async (): Promise<string[]> => {
      const found: string[] = [];
      for (const key of (await command(engine, 'KEYS', '*:b:*')) as readonly string[]) {
        const body = String(await command(engine, 'HGET', key, 'b'));
        if (!body.startsWith('robots')) found.push(key);
      }
      return found;
    };
    const [key = ''] = await pages();
    const entry = String(await command(engine, 'HGET', key, 'b'));
    const poisons = [
      entry.slice(0, -20),
      entry.replace('The text', 'Any text'),
      entry.replaceAll('/page"', '/other"'),
      entry.replace(/"version":\d+/, '"version":1'),
      entry.replace(/"fetched_at":"\d{4}/, '"fetched_at":"9999'),
      entry.replace(/"fetched_at":"\d{4}/, '"fetched_at":"1999'),
      `${' '.repeat(5_000_000)}${entry}`,
      '{}',
      // Red team G9: of the right form, and nothing that our extraction makes.
      entry.replace(/"checksum":\d+,/, '').replace('The text', '<b>The text'),
    ];
    expect(await fetchAnew()).toBe(good);
    expect(origin.pages()).toHaveLength(1);
    for (const [index, poison] of poisons.entries()) {
      await command(engine, 'HSET', key, 'b', poison);
      expect(await fetchAnew(), poison.slice(0, 200)).toBe(good);
      expect(origin.pages(), poison.slice(0, 200)).toHaveLength(index + 2);
    }
  });

  test('S1 a robots.txt that is not what the site said is retrieved again', async () => {
    const origin = await startOrigin();
    const [one] = replicas(1, {port: origin.port, ...FREE});
    await one?.webFetch({url: origin.url('/a')});
    for (const key of (await command(engine, 'KEYS', '*:b:*')) as readonly string[]) {
      const body = String(await command(engine, 'HGET', key, 'b'));
      if (body.startsWith('robots'))
        await command(engine, 'HSET', key, 'b', body.replace('/private', '/others!'));
    }
    const [other, third] = replicas(2, {port: origin.port, ...FREE});
    expect(codeOf(unwrapOptional(await other?.webFetch({url: origin.url('/private')})))).toBe(
      'robots_disallowed',
    );
    expect(origin.robots()).toHaveLength(2);
    expect(codeOf(unwrapOptional(await third?.webFetch({url: origin.url('/private')})))).toBe(
      'robots_disallowed',
    );
    expect(origin.robots()).toHaveLength(2);
  });

  test('S1 no_cache asks the origin, and what it answers is shared', async () => {
    let version = 0;
    const origin = await startOrigin((_, response) => {
      version += 1;
      response.writeHead(200, {'Content-Type': 'text/plain'}).end(`Version ${version}.`);
    });
    const [one, two, three] = replicas(3, {port: origin.port, ...FREE});
    const url = origin.url('/page');
    const text = async (replica: typeof one, no_cache = false): Promise<string | undefined> =>
      unwrap(unwrapOptional(await replica?.webFetch({url, no_cache}))).chunks[0]?.text;
    expect(await text(one)).toBe('Version 1.');
    expect(await text(two, true)).toBe('Version 2.');
    expect(await text(three)).toBe('Version 2.');
    expect(origin.pages()).toHaveLength(2);
  });

  test('S1 a failure is not shared, so each that waited asks by itself', async () => {
    const origin = await startOrigin((_, response) => response.writeHead(404).end(), 200);
    const fleet = replicas(3, {port: origin.port, ...FREE});
    const answers = await Promise.all(fleet.map(replica => replica.webFetch({url: origin.url('/missing')})));
    expect(answers.map(codeOf)).toEqual(['http_4xx', 'http_4xx', 'http_4xx']);
    expect(origin.pages()).toHaveLength(3);
    // The two that waited did not wait for each other.
    expect(origin.mostAtOnce()).toBe(2);
  });

  test('S1 what a credential shows is in no engine', async () => {
    const authority = createCertificateAuthority();
    const server = await startHttpServer(
      {
        '/robots.txt': (_, response) => response.writeHead(404).end(),
        '*': (request, response) =>
          response
            .writeHead(200, {'Content-Type': 'text/plain'})
            .end(`For ${request.headers.authorization ?? 'all'}.`),
      },
      {certificate: authority.issue({names: ['one.test', 'two.test']})},
    );
    onTestFinished(() => server.close());
    const replica = openReplica({
      url: engine.url,
      port: server.port,
      ...FREE,
      authority: authority.pem,
      credentials: [{host: `one.test:${server.port}`, header: 'Authorization', env: 'SECRET'}],
      env: {SECRET: 'sesame'},
    });
    for (const host of ['one.test', 'two.test']) {
      const answer = unwrap(await replica.webFetch({url: `https://${host}:${server.port}/page`}));
      expect(answer.chunks[0]?.text).toBe(host === 'one.test' ? 'For sesame.' : 'For all.');
    }
    const bodies: string[] = [];
    for (const key of (await command(engine, 'KEYS', '*:b:*')) as readonly string[]) {
      bodies.push(String(await command(engine, 'HGET', key, 'b')));
    }
    expect(bodies.filter(body => body.includes('For all.'))).toHaveLength(1);
    expect(bodies.join()).not.toContain('sesame');
  });

  test('S1 an engine that is gone leaves each replica its cache and its part of the limits', async () => {
    const own = await startRedis();
    onTestFinished(own.stop);
    const origin = await startOrigin(undefined, 100);
    const [one, other] = replicas(2, {url: own.url, port: origin.port, host_gap_ms: 60, max_per_host: 2});
    for (const replica of [one, other]) await replica?.webFetch({url: origin.url('/first')});
    await own.kill();
    origin.seen.length = 0;
    const answers = await Promise.all(
      ['a', 'b', 'c'].flatMap(path =>
        [one, other].map(replica => replica?.webFetch({url: origin.url(`/${path}`)})),
      ),
    );
    for (const answer of answers) {
      expect(answer).toMatchObject({ok: true, value: {notes: ['hub_unavailable']}});
    }
    const cached = await one?.webFetch({url: origin.url('/a')});
    expect(cached).toMatchObject({ok: true, value: {notes: ['cache_hit']}});
    expect(origin.mostAtOnce()).toBeLessThanOrEqual(3);
  });

  test('S1 an engine that is gone and required makes the fetch fail, and is back when it is', async () => {
    const own = await startRedis();
    onTestFinished(own.stop);
    const origin = await startOrigin();
    const [one] = replicas(1, {url: own.url, port: origin.port, ...FREE, required: true});
    expect(codeOf(unwrapOptional(await one?.webFetch({url: origin.url('/a')})))).toBe('ok');
    await own.kill();
    const failed = await one?.webFetch({url: origin.url('/b')});
    expect(failed).toMatchObject({ok: false, error: {code: 'hub_unavailable', retryable: true}});
    expect(origin.pages()).toHaveLength(1);
    await own.start();
    const fetch = async () => codeOf(unwrapOptional(await one?.webFetch({url: origin.url('/b')})));
    await expect.poll(fetch, {timeout: 10_000}).toBe('ok');
  });

  test('S1 FLUSHALL, a restart and a partition in mid-run keep the gap of a host', {
    tags: 'slow',
  }, async () => {
    const own = await startRedis();
    onTestFinished(own.stop);
    const proxy = await startFaultProxy(own.port);
    const origin = await startOrigin(undefined, 5);
    const options = {port: origin.port, host_gap_ms: 150, max_per_host: 2};
    const fleet = [
      ...replicas(2, {url: own.url, ...options}),
      openReplica({url: proxy.url, ...options, required: true}),
      // Its clock is hours off.
      openReplica({
        url: own.url,
        ...options,
        required: true,
        clock: {...systemClock, now: () => Date.now() + 7_200_000},
      }),
    ];
    let next = 0;
    let isOver = false;
    const work = fleet.map(async replica => {
      const codes: string[] = [];
      while (!isOver) {
        next += 1;
        codes.push(codeOf(await replica.webFetch({url: origin.url(`/page-${next}`)})));
        // Whoever is refused at once asks again after a while.
        if (codes.at(-1) !== 'ok') await new Promise(resolve => setTimeout(resolve, 50));
      }
      return codes;
    });
    const until = (count: number) =>
      expect.poll(() => origin.seen.length, {timeout: 15_000}).toBeGreaterThan(count);
    await until(8);
    await command(own, 'FLUSHALL');
    await until(16);
    proxy.cut();
    await until(24);
    proxy.heal();
    await until(32);
    isOver = true;
    const codes = (await Promise.all(work)).flat();
    expect(new Set(codes)).toEqual(new Set(['ok', 'hub_unavailable']));
    expect(origin.shortestGap()).toBeGreaterThan(110);
    expect(origin.mostAtOnce()).toBeLessThanOrEqual(2);
  });

  test('S1 a slow engine is a miss of the page, and never a host asked without its turn', async () => {
    const origin = await startOrigin();
    const proxy = await startFaultProxy(engine.port);
    const [near] = replicas(1, {port: origin.port, host_gap_ms: 200});
    await near?.webFetch({url: origin.url('/page')});
    const far = openReplica({url: proxy.url, port: origin.port, host_gap_ms: 200, budget_ms: 50});
    await far.webFetch({url: origin.url('/warm')});
    proxy.delay(60);
    expect(await far.webFetch({url: origin.url('/page')})).toMatchObject({ok: true, value: {notes: []}});
    expect(origin.pages().map(({path}) => path)).toEqual(['/page', '/warm', '/page']);
    expect(origin.shortestGap()).toBeGreaterThan(150);
  });
});

function unwrapOptional<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('Expected a value');
  return value;
}
