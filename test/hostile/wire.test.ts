import type {Socket} from 'node:net';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {createCertificateAuthority} from '../support/certificates.ts';
import {openTestToolbox} from '../support/open-test-toolbox.ts';
import {codeOf} from '../support/outcome.ts';
import {type RawServer, startRawServer} from '../support/raw-server.ts';
import {BEHAVIOURS, type Behaviour, PLACES, type Place} from './support/wire-behaviours.ts';
import {TLS_AUTHORITY, TLS_BEHAVIOURS, TLS_CERTIFICATE} from './support/wire-tls-behaviours.ts';
import {
  countHoldings,
  FAST_SECONDS,
  inParallel,
  isHeld,
  type Outcome,
  openWireWorld,
  SLOW_SECONDS,
  type WireWorld,
} from './support/wire-world.ts';

const response = (text: string, status = '200 OK'): string =>
  `HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
const POISON = response('Poisoned');

interface Hop {
  readonly socket: Socket;
  readonly path: string;
  readonly host: string;
  /** Counts the requests of this connection, from 0. */
  readonly index: number;
}

/** Answers robots.txt with 404, and everything else as `play` does. */
async function serve(play: (hop: Hop) => void, address = '0.0.0.0'): Promise<RawServer> {
  const server = await startRawServer(
    (socket, {head, index}) => {
      const path = head.split(' ', 2)[1] ?? '';
      const host = /^host: ([^:\r]*)/im.exec(head)?.[1] ?? '';
      if (path === '/robots.txt') socket.write(response('', '404 Not Found'));
      else play({socket, path, host, index});
    },
    {address},
  );
  onTestFinished(() => server.close());
  return server;
}

function open(server: RawServer, addressOf: (name: string) => string = () => '127.0.0.1') {
  const {toolbox} = openTestToolbox(
    [server.port],
    {cache_dir: '', timeout_seconds: 5},
    {resolver: {resolve: async name => [addressOf(name)]}},
  );
  const fetchText = async (path: string, host = 'one.test'): Promise<string> => {
    const result = await toolbox.webFetch({url: `http://${host}:${server.port}${path}`});
    return result.ok ? result.value.chunks.map(({text}) => text).join() : result.error.code;
  };
  return {toolbox, fetchText};
}

const pagesOf = ({heads}: RawServer): readonly string[] =>
  heads.map(head => head.split(' ', 2)[1] ?? '').filter(path => path !== '/robots.txt');

describe('a resting connection', () => {
  test('ruling A7 serves the next request of its origin', async () => {
    const server = await serve(({socket, path}) => socket.write(response(path)));
    const {fetchText} = open(server);
    expect(await fetchText('/1')).toBe('/1');
    expect(await fetchText('/2')).toBe('/2');
    expect(server.accepted()).toBe(1);
  });

  test.each([
    ['behind the body', response('/1') + POISON],
    [
      'behind the last chunk',
      `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n/1\r\n0\r\n\r\n${POISON}`,
    ],
    ['behind 204', `HTTP/1.1 204 No Content\r\n\r\n${POISON}`],
    ['as the body of 204', `HTTP/1.1 204 No Content\r\nContent-Length: ${POISON.length}\r\n\r\n${POISON}`],
    ['as the body of 304', `HTTP/1.1 304 Not Modified\r\nContent-Length: ${POISON.length}\r\n\r\n${POISON}`],
    ['behind a 404', response('no', '404 Not Found') + POISON],
    ['as the body of a 404', response(POISON, '404 Not Found')],
    ['as the body of a refused type', response(POISON).replace('text/plain', 'image/png')],
  ])('policy: an answer in advance %s is never taken for the next one', async (_, first) => {
    const server = await serve(({socket, path}) => socket.write(path === '/1' ? first : response(path)));
    const {fetchText} = open(server);
    await fetchText('/1');
    expect(await fetchText('/2')).toBe('/2');
    expect(await fetchText('/3')).toBe('/3');
  });

  test('policy: bytes that come while it rests end it', async () => {
    const server = await serve(({socket, path}) => {
      socket.write(response(path), () => setImmediate(() => socket.write(POISON)));
    });
    const {fetchText} = open(server);
    expect(await fetchText('/1')).toBe('/1');
    await server.allClosed();
    expect(await fetchText('/2')).toBe('/2');
  });

  test('policy: a FIN while it rests ends it', async () => {
    const server = await serve(({socket, path}) => {
      socket.write(response(path), () => setImmediate(() => socket.end()));
    });
    const {fetchText} = open(server);
    expect(await fetchText('/1')).toBe('/1');
    await server.allClosed();
    expect(await fetchText('/2')).toBe('/2');
  });

  test.each([
    ['a FIN', (socket: Socket) => void socket.end()],
    ['a RST', (socket: Socket) => void socket.resetAndDestroy()],
  ])('RFC 9110 §9.2.2 %s instead of an answer leads to one more attempt', async (_, hangUp) => {
    const server = await serve(({socket, path, index}) => {
      if (index > 0 && path === '/2') hangUp(socket);
      else socket.write(response(path));
    });
    const {fetchText} = open(server);
    expect(await fetchText('/1')).toBe('/1');
    expect(await fetchText('/2')).toBe('/2');
    expect(pagesOf(server)).toEqual(['/1', '/2', '/2']);
  });

  test('RFC 9110 §9.2.2 but not to a third', async () => {
    const server = await serve(({socket, path}) => {
      if (path === '/2') socket.resetAndDestroy();
      else socket.write(response(path));
    });
    const {fetchText} = open(server);
    expect(await fetchText('/1')).toBe('/1');
    expect(await fetchText('/2')).toBe('network');
    expect(pagesOf(server)).toEqual(['/1', '/2', '/2']);
  });

  test('policy: half an answer is not asked for again', async () => {
    const server = await serve(({socket, path}) => {
      if (path === '/2') socket.end('HTTP/1.1 200 OK\r\nContent-');
      else socket.write(response(path));
    });
    const {fetchText} = open(server);
    expect(await fetchText('/1')).toBe('/1');
    expect(await fetchText('/2')).toBe('network');
    expect(pagesOf(server)).toEqual(['/1', '/2']);
  });

  test('ruling A7 serves no other host at the same address', async () => {
    const hosts = new Map<Socket, Set<string>>();
    const server = await serve(({socket, host}) => {
      hosts.set(socket, (hosts.get(socket) ?? new Set()).add(host));
      socket.write(response(host));
    });
    const {fetchText} = open(server);
    for (const host of ['one.test', 'two.test', 'one.test', 'two.test']) {
      expect(await fetchText('/', host)).toBe(host);
    }
    expect([...hosts.values()].map(seen => [...seen])).toEqual([['one.test'], ['two.test']]);
  });

  test('ruling A7 serves no call whose name has another address by now', async () => {
    const addresses = ['127.0.0.2', '127.0.0.3'];
    const server = await serve(({socket}) => socket.write(response(socket.localAddress ?? '')));
    const {fetchText} = open(server, () => addresses.shift() ?? '');
    expect(await fetchText('/1')).toBe('127.0.0.2');
    expect(server.open()).toBe(1);
    expect(await fetchText('/2')).toBe('127.0.0.3');
  });

  test('policy: ends by itself after four seconds', async () => {
    const server = await serve(({socket, path}) => socket.write(response(path)));
    const {fetchText} = open(server);
    expect(await fetchText('/1')).toBe('/1');
    expect(server.open()).toBe(1);
    await server.allClosed();
  });

  test('policy: ends with the toolbox, as one under way does', async () => {
    let arrived: () => void = () => {};
    const asked = new Promise<void>(resolve => {
      arrived = resolve;
    });
    const server = await serve(({socket, path}) => {
      if (path === '/1') socket.write(response(path));
      else arrived();
    });
    const {toolbox, fetchText} = open(server);
    expect(await fetchText('/1', 'resting.test')).toBe('/1');
    const underWay = fetchText('/2', 'busy.test');
    await asked;
    expect(server.open()).toBe(2);
    await toolbox.close();
    await server.allClosed();
    expect(await underWay).toBe('cancelled');
  });
});

describe('a caller who cancels', () => {
  test.each([
    ['robots.txt', '/robots.txt', ''],
    ['the head', '/', ''],
    ['half the head', '/', 'HTTP/1.1 200 OK\r\nContent-'],
    ['the body', '/', 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\nhalf'],
    [
      'a compressed body',
      '/',
      'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b',
    ],
  ])('ruling C3 while %s is awaited has no connection left', async (_, path, bytes) => {
    const caller = new AbortController();
    const server = await startRawServer((socket, {head}) => {
      if (!head.startsWith(`GET ${path} `)) socket.write(response('', '404 Not Found'));
      else socket.write(bytes, 'latin1', () => setImmediate(() => caller.abort()));
    });
    onTestFinished(() => server.close());
    const {toolbox} = open(server);
    const result = await toolbox.webFetch({url: `http://one.test:${server.port}/`}, {signal: caller.signal});
    expect(codeOf(result)).toBe('cancelled');
    await server.allClosed();
  });
});

const CASES = TLS_BEHAVIOURS.flatMap(behaviour => PLACES.map(place => ({behaviour, place})));
const GRACE_MS = 4000;

describe('TLS', () => {
  const outcomes = new Map<string, Outcome>();
  let world: WireWorld;

  beforeAll(async () => {
    world = await openWireWorld(TLS_BEHAVIOURS, {ca: TLS_AUTHORITY.pem, certificate: TLS_CERTIFICATE});
    await inParallel(CASES, 16, async ({behaviour, place}) => {
      outcomes.set(`${behaviour.name} ${place}`, await world.meet(behaviour, place));
    });
  }, 60_000);
  afterAll(async () => {
    await world.close();
    await world.server.close();
  });

  describe.each(PLACES)('FR-WF-BSSR-TLS-01 as %s', place => {
    test.each(TLS_BEHAVIOURS.map(behaviour => [behaviour.name, behaviour] as const))(
      '%s',
      (name, behaviour) => {
        const outcome = outcomes.get(`${name} ${place}`);
        expect([behaviour.expected[place]].flat()).toContain(outcome?.said);
        expect(outcome?.hungUp).toBe(true);
        if (behaviour.slow) expect(outcome?.elapsedMs).toBeLessThan(SLOW_SECONDS * 1000 + GRACE_MS);
      },
    );
  });

  test('no connection is left', async () => {
    await world.close();
    await expect.poll(() => world.server.open()).toBe(0);
  });
});

describe('wire', () => {
  const CASES = BEHAVIOURS.flatMap(behaviour => PLACES.map(place => ({behaviour, place})));
  type Case = (typeof CASES)[number];

  const [FAST, SLOW] = [
    CASES.filter(({behaviour, place}) => !isHeld(behaviour, place)),
    CASES.filter(({behaviour, place}) => isHeld(behaviour, place)),
  ];
  const AT_ONCE = 16;
  /** What the buffers of two sockets hold, several times over. */
  const MOST_SENT = 33_554_432;
  const ALL_MS = 240_000;
  const MEGABYTE = 1_048_576;

  const keyOf = (behaviour: Behaviour, place: Place): string => `${behaviour.name} ${place}`;

  describe.each(['http', 'https'] as const)('over %s', scheme => {
    const outcomes = new Map<string, Outcome>();
    let world: WireWorld;

    const meetAll = (cases: readonly Case[], atOnce: number): Promise<void> =>
      inParallel(cases, atOnce, async ({behaviour, place}) => {
        outcomes.set(keyOf(behaviour, place), await world.meet(behaviour, place));
      });

    beforeAll(async () => {
      const authority = createCertificateAuthority();
      const certificate = authority.issue({names: ['*.wire.test']});
      world = await openWireWorld(
        BEHAVIOURS,
        scheme === 'https' ? {ca: authority.pem, certificate} : undefined,
      );
      await meetAll(FAST, AT_ONCE);
      // All of them wait for the same deadline.
      await meetAll(SLOW, SLOW.length);
    }, ALL_MS);
    afterAll(async () => {
      await world.close();
      await world.server.close();
    });

    describe.each(PLACES)('as %s', place => {
      test.each(BEHAVIOURS.map(behaviour => [behaviour.name, behaviour] as const))('%s', (_, behaviour) => {
        const outcome = outcomes.get(keyOf(behaviour, place));
        const expected = [behaviour.expected[place]].flat();
        expect(expected).toContain(outcome?.said);
        expect(outcome?.hungUp).toBe(true);
        const budgetMs = (isHeld(behaviour, place) ? SLOW_SECONDS : FAST_SECONDS) * 1000;
        const elapsedMs = outcome?.elapsedMs ?? Number.POSITIVE_INFINITY;
        expect(elapsedMs).toBeLessThan(budgetMs + GRACE_MS);
        expect(outcome?.sentBytes).toBeLessThan(MOST_SENT);
      });
    });

    test(
      'sockets, descriptors and memory are back where they were after the whole table once more',
      async () => {
        // What is built once was built by the first round; what rests in the pool goes with its time.
        const before = await countHoldings();
        await meetAll(FAST, AT_ONCE);
        const after = await countHoldings();
        expect(after.bytes - before.bytes).toBeLessThan(4 * MEGABYTE);

        await world.close();
        await expect.poll(() => world.server.open()).toBe(0);
        const closed = await countHoldings();
        expect(closed.sockets).toBeLessThanOrEqual(before.sockets);
        expect(closed.descriptors).toBeLessThanOrEqual(before.descriptors);
      },
      ALL_MS,
    );
  });
});
