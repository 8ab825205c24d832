import {describe, expect, test} from 'vitest';
import type {PathHandler} from '../../../test/support/http-server.ts';
import {createManualClock} from '../../../test/support/manual-clock.ts';
import {file, robotsInternet as internet, SITE, say} from '../../../test/support/robots-internet.ts';
import {LruCache} from '../../core/lru-cache.ts';
import {fail} from '../../core/result.ts';

const HOUR_MS = 3_600_000;
const ALLOWED = {ok: true, value: {failOpen: false}};
const FAIL_OPEN = {ok: true, value: {failOpen: true}};
const refused = (code: string, details: object) => ({
  ok: false,
  error: expect.objectContaining({code, details: expect.objectContaining(details)}),
});
const unavailable = (error: string, more: object = {}) =>
  refused('robots_unavailable', {origin: SITE, error, ...more});

describe('verdicts', () => {
  test('T-WF-ROB-01 a disallowed path names path, origin and rule, without the query', async () => {
    const {check, log} = await internet({[SITE]: file(say('User-agent: *\nDisallow: /private/*?*'))});
    const result = await check(`${SITE}/private/x?secret=1`);
    expect(result).toEqual(
      refused('robots_disallowed', {path: '/private/x', origin: SITE, rule: 'Disallow: /private/*?*'}),
    );
    expect(JSON.stringify([result, log])).not.toContain('secret');
    expect(!result.ok && result.error.message).toBe(
      `The robots.txt of ${SITE} disallows /private/x for "forge-webfetch" (Disallow: /private/*?*). Choose another source.`,
    );
    expect(log).toEqual([
      {
        level: 'info',
        event: 'robots_disallowed',
        requested_host: 'site.test',
        rendering_method: 'http',
        cache_hit: false,
        error_code: 'robots_disallowed',
      },
    ]);
    expect(await check(`${SITE}/private/x`)).toEqual(ALLOWED);
  });

  test('T-WF-ROB-06 404 allows all, and is remembered', async () => {
    const {check, requests} = await internet({[SITE]: file(say('', 404))});
    expect(await check(`${SITE}/x`)).toEqual(ALLOWED);
    expect(await check(`${SITE}/y`)).toEqual(ALLOWED);
    expect(requests(SITE)).toEqual(['GET /robots.txt']);
  });

  test.each([400, 401, 403, 410, 429])('T-WF-ROB-12 status %i allows all', async status => {
    const {check} = await internet({[SITE]: file(say('User-agent: *\nDisallow: /', status))});
    expect(await check(`${SITE}/x`)).toEqual(ALLOWED);
  });

  test.each([203, 206])('ruling B3 the body of a %i is parsed', async status => {
    const {check} = await internet({[SITE]: file(say('User-agent: *\nDisallow: /', status))});
    expect(await check(`${SITE}/x`)).toEqual(refused('robots_disallowed', {}));
  });

  test.each([500, 503])('T-WF-ROB-07 status %i is unavailable and never remembered', async status => {
    let answer = status;
    const {check} = await internet({[SITE]: file((_, response) => response.writeHead(answer).end())});
    expect(await check(`${SITE}/x`)).toEqual(unavailable('http_5xx', {status}));
    answer = 404;
    expect(await check(`${SITE}/x`)).toEqual(ALLOWED);
  });

  test('T-WF-ROB-09 origins do not share their rules', async () => {
    const {check, requests} = await internet({
      [SITE]: file(say('User-agent: *\nDisallow: /')),
      [`${SITE}:8080`]: file(say('')),
      'https://site.test': file(say('')),
    });
    expect(await check(`${SITE}/x`)).toEqual(refused('robots_disallowed', {origin: SITE}));
    expect(await check(`${SITE}:8080/x`)).toEqual(ALLOWED);
    expect(await check('https://site.test/x')).toEqual(ALLOWED);
    expect(requests(`${SITE}:8080`)).toEqual(['GET /robots.txt']);
    expect(requests('https://site.test')).toEqual(['GET /robots.txt']);
  });

  test('T-WF-ROB-13 of a file above the limit the first part counts, and a warning is logged', async () => {
    const text = 'User-agent: *\nDisallow: /x\nDisallow: /y\n';
    const {check, log} = await internet({[SITE]: file(say(text))}, {max_robots_bytes: text.length - 4});
    expect(await check(`${SITE}/x`)).toEqual(refused('robots_disallowed', {}));
    expect(await check(`${SITE}/y`)).toEqual(ALLOWED);
    expect(log).toContainEqual(
      expect.objectContaining({level: 'warn', message: `robots.txt truncated at ${text.length - 4} bytes`}),
    );
    const exact = await internet({[SITE]: file(say(text))}, {max_robots_bytes: text.length});
    expect(await exact.check(`${SITE}/y`)).toEqual(refused('robots_disallowed', {}));
    expect(exact.log.filter(({event}) => event === 'robots_truncated')).toEqual([]);
  });

  test('ruling B3 a body that ends early is unavailable', async () => {
    const broken: PathHandler = (_, response) => {
      response.writeHead(200, {'content-length': '1000'});
      response.write('User-agent: *\nAllow: /\n', () => response.destroy());
    };
    const {check, log} = await internet({[SITE]: file(broken)});
    expect(await check(`${SITE}/x`)).toEqual(unavailable('truncated'));
    expect(log).toEqual([
      {
        level: 'warn',
        rendering_method: 'http',
        cache_hit: false,
        event: 'robots_unavailable',
        requested_host: 'site.test',
        error_code: 'robots_unavailable',
        error: 'truncated',
      },
    ]);
  });

  test('security: no more of a rule is repeated than a reader needs', async () => {
    const {check} = await internet({
      [SITE]: file(say(`User-agent: *\nDisallow: /*${'x'.repeat(4000)}\nDisallow: /`)),
    });
    const result = await check(`${SITE}/${'x'.repeat(4000)}`);
    expect(JSON.stringify(!result.ok && result.error.details['rule']).length).toBeLessThan(210);
  });
});

describe('time', () => {
  function silent(): {handler: PathHandler; asked: Promise<void>} {
    let onAsked: () => void = () => {};
    const asked = new Promise<void>(resolve => {
      onAsked = resolve;
    });
    return {handler: () => onAsked(), asked};
  }

  test('T-WF-ROB-07 a time-out is unavailable', async () => {
    const {handler, asked} = silent();
    const {check, clock} = await internet({[SITE]: file(handler)});
    const result = check(`${SITE}/x`);
    await asked;
    clock.advance(20_000);
    expect(await result).toEqual(unavailable('timeout'));
  });

  test('T-WF-ROB-08 a time-out with fail_open allows, and says so', async () => {
    const {handler, asked} = silent();
    const {check, clock, log} = await internet({[SITE]: file(handler)}, {fail_open: true});
    const result = check(`${SITE}/x`);
    await asked;
    clock.advance(20_000);
    expect(await result).toEqual(FAIL_OPEN);
    expect(log).toContainEqual(
      expect.objectContaining({event: 'robots_unavailable_fail_open', error: 'timeout'}),
    );
  });

  test('FR-WF-08f rules are asked for again when their time is over', async () => {
    const {check, clock, requests} = await internet({[SITE]: file(say(''))});
    await check(`${SITE}/x`);
    clock.advance(24 * HOUR_MS - 1);
    await check(`${SITE}/x`);
    expect(requests(SITE).length).toBe(1);
    clock.advance(1);
    await check(`${SITE}/x`);
    expect(requests(SITE).length).toBe(2);
  });

  test('FR-WF-ROBOTS-CACHE-03 with no entries every check asks', async () => {
    const {check, requests} = await internet({[SITE]: file(say(''))}, {entries: 0});
    await check(`${SITE}/x`);
    await check(`${SITE}/x`);
    expect(requests(SITE).length).toBe(2);
  });

  test('ruling B5 checks at the same time share one request, and one who cancels leaves the others alone', async () => {
    const open: (() => void)[] = [];
    const {check, requests} = await internet({
      [SITE]: file((_, response) => open.push(() => response.end('User-agent: *\nDisallow: /no'))),
    });
    const controller = new AbortController();
    const first = check(`${SITE}/x`, controller.signal);
    const others = [check(`${SITE}/yes`), check(`${SITE}/no`)];
    await expect.poll(() => open.length).toBe(1);
    controller.abort();
    const cancelled = await first;
    expect(cancelled).toEqual(refused('cancelled', {phase: 'robots'}));
    expect(!cancelled.ok && cancelled.error.message).toBe(
      `The call was cancelled while the robots.txt of ${SITE} was read.`,
    );
    open[0]?.();
    expect(await Promise.all(others)).toEqual([ALLOWED, refused('robots_disallowed', {})]);
    expect(requests(SITE).length).toBe(1);
  });

  test('review R11: what the rules of one call refuse says nothing about another that waits for it', async () => {
    const asked: string[] = [];
    let refuse = (): void => {};
    const {check, requests} = await internet(
      {[SITE]: file(say('User-agent: *\nDisallow: /no'))},
      {
        refused: call => {
          asked.push(call);
          if (call !== 'strict') return Promise.resolve(undefined);
          return new Promise(resolve => {
            refuse = () => resolve(fail('approval_denied', 'no', {}).error);
          });
        },
      },
    );
    const strict = check(`${SITE}/x`, undefined, 'strict');
    const others = [check(`${SITE}/x`, undefined, 'b'), check(`${SITE}/no`, undefined, 'c')];
    await expect.poll(() => asked).toEqual(['strict']);
    refuse();
    expect(await strict).toEqual(unavailable('approval_denied'));
    expect(await Promise.all(others)).toEqual([ALLOWED, refused('robots_disallowed', {})]);
    // The one who was refused did not ask again.
    expect(asked.toSorted()).toEqual(['b', 'c', 'strict']);
    expect(requests(SITE)).toHaveLength(2);
  });

  test('review R11: another failure is shared by all who wait', async () => {
    const asked: string[] = [];
    let open = (): void => {};
    const {check} = await internet(
      {},
      {
        refused: call => {
          asked.push(call);
          return new Promise(resolve => {
            open = () => resolve(undefined);
          });
        },
      },
    );
    const checks = [check(`${SITE}/x`, undefined, 'a'), check(`${SITE}/y`, undefined, 'b')];
    await expect.poll(() => asked).toEqual(['a']);
    open();
    for (const result of await Promise.all(checks)) expect(result).toEqual(refused('dns_failed', {}));
    expect(asked).toEqual(['a']);
  });

  test('ruling B2 the time of a retrieval is over with it', async () => {
    const {check, clock} = await internet({[SITE]: file(say('')), 'http://b.test': file(say('', 503))});
    await check(`${SITE}/x`);
    await check('http://b.test/x');
    expect(clock.pending()).toBe(0);
  });

  test('T-WF-ROB-17 an outcome of fail_open is not remembered', async () => {
    let status = 503;
    const {check, requests} = await internet(
      {[SITE]: file((_, response) => response.writeHead(status).end('User-agent: *\nDisallow: /'))},
      {fail_open: true},
    );
    expect(await check(`${SITE}/x`)).toEqual(FAIL_OPEN);
    status = 200;
    expect(await check(`${SITE}/x`)).toEqual(refused('robots_disallowed', {}));
    expect(requests(SITE).length).toBe(2);
  });
});

test('FR-WF-08f an entry ends with its time to live', () => {
  const clock = createManualClock();
  const cache = new LruCache<number>({entries: 2, bytes: 100, ttlMs: 1000}, clock);
  cache.set('a', 1, 1);
  clock.advance(999);
  expect(cache.get('a')).toBe(1);
  clock.advance(1);
  expect(cache.get('a')).toBeUndefined();
  cache.set('a', 2, 1);
  clock.advance(-1);
  expect(cache.get('a')).toBeUndefined();
});

test('FR-WF-08g the least recently used origin goes first', () => {
  const cache = new LruCache<number>({entries: 2, bytes: 100, ttlMs: 1000}, createManualClock());
  cache.set('a', 1, 1);
  cache.set('b', 2, 1);
  cache.get('a');
  cache.set('c', 3, 1);
  expect(['a', 'b', 'c'].map(origin => cache.get(origin))).toEqual([1, undefined, 3]);
  cache.set('a', 4, 1);
  expect(['a', 'c'].map(origin => cache.get(origin))).toEqual([4, 3]);
});

test('FR-WF-ROBOTS-CACHE-03 no entries means no cache', () => {
  const cache = new LruCache<number>({entries: 0, bytes: 100, ttlMs: 1000}, createManualClock());
  cache.set('a', 1, 1);
  expect(cache.get('a')).toBeUndefined();
});

test('policy: the cache is bounded by bytes too, so that a thousand large files cannot fill the memory', () => {
  const limits = {entries: 100, bytes: 100, ttlMs: 1000};
  const cache = new LruCache<number>(limits, createManualClock());
  const known = (): (number | undefined)[] => ['a', 'b', 'c', 'd'].map(origin => cache.get(origin));
  cache.set('a', 1, 40);
  cache.set('b', 2, 40);
  cache.set('c', 3, 60);
  expect(known()).toEqual([undefined, 2, 3, undefined]);
  // What replaces an entry takes its place, and what was pushed out counts no longer.
  cache.set('b', 4, 10);
  cache.set('a', 5, 30);
  expect(known()).toEqual([5, 4, 3, undefined]);
  cache.set('d', 6, 100);
  expect(known()).toEqual([undefined, undefined, undefined, 6]);
  cache.set('d', 7, 101);
  expect(known()).toEqual([undefined, undefined, undefined, undefined]);
});

test('policy: an entry whose time is over gives its bytes back', () => {
  const clock = createManualClock();
  const cache = new LruCache<number>({entries: 100, bytes: 100, ttlMs: 1000}, clock);
  cache.set('a', 1, 90);
  clock.advance(1000);
  expect(cache.get('a')).toBeUndefined();
  cache.set('b', 2, 50);
  cache.set('c', 3, 50);
  expect([cache.get('b'), cache.get('c')]).toEqual([2, 3]);
});
