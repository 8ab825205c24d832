import {getEventListeners, once} from 'node:events';
import type {Socket} from 'node:net';
import {brotliCompressSync, deflateRawSync, deflateSync, gzipSync} from 'node:zlib';
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi} from 'vitest';
import {authorizeForTest} from '../../../test/support/authorize-for-test.ts';
import {callTransport} from '../../../test/support/call-transport.ts';
import {createCertificateAuthority} from '../../../test/support/certificates.ts';
import {startHttpServer} from '../../../test/support/http-server.ts';
import {createManualClock} from '../../../test/support/manual-clock.ts';
import {type RawScript, type RawServer, startRawServer} from '../../../test/support/raw-server.ts';
import {systemClock} from '../../core/clock.ts';
import {Deadline} from '../../core/deadline.ts';
import type {HttpTransport} from '../page.ts';
import {createHttpTransport} from './http-transport.ts';
import {NETWORK_ERRORS} from './network-error.ts';

describe('http transport', () => {
  let transport: HttpTransport;
  const closers: (() => Promise<void>)[] = [];

  beforeEach(() => {
    transport = createHttpTransport();
  });
  afterEach(async () => {
    await transport.close();
    for (const close of closers.splice(0)) await close();
    vi.unstubAllEnvs();
  });

  async function serve(...args: Parameters<typeof startHttpServer>): ReturnType<typeof startHttpServer> {
    const server = await startHttpServer(...args);
    closers.push(server.close);
    return server;
  }

  async function serveRaw(...args: Parameters<typeof startRawServer>): ReturnType<typeof startRawServer> {
    const server = await startRawServer(...args);
    closers.push(server.close);
    return server;
  }

  describe('requests', () => {
    test('FR-WF-10b sends what it is given, Host and Connection, and nothing else', async () => {
      const server = await serveRaw(socket => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'));
      const headers = {'User-Agent': 'forge-webfetch/1.0', Accept: '*/*'};
      await callTransport(transport, authorizeForTest(`http://example.com.:${server.port}/a?b=c`), {headers});
      expect(server.heads).toEqual([
        `GET /a?b=c HTTP/1.1\r\nHost: example.com:${server.port}\r\nConnection: keep-alive\r\n` +
          'User-Agent: forge-webfetch/1.0\r\nAccept: */*\r\n\r\n',
      ]);
    });

    test('FR-WF-07d no cookie is kept, and no redirect is followed', async () => {
      const server = await serve({
        '/': (_request, response) => {
          response.writeHead(302, {Location: '/next', 'Set-Cookie': ['a=b', 'c=d']}).end();
        },
      });
      const first = await callTransport(transport, authorizeForTest(`${server.origin}/`));
      const second = await callTransport(transport, authorizeForTest(`${server.origin}/`));
      expect(first.ok && first.value.status).toBe(302);
      expect(first.ok && first.value.headers.get('set-cookie')).toEqual(['a=b', 'c=d']);
      expect(second.ok && second.value.headers.get('location')).toEqual(['/next']);
      expect(server.requests).toEqual(['GET /', 'GET /']);
      expect(server.requestHeaders[1]).not.toHaveProperty('cookie');
    });

    test.each([
      [{'User-Agent': 'a\r\nX-Evil: b'}],
      [{'User-Agent': 'a\nX-Evil: b'}],
      [{'User-Agent': 'a\0'}],
      [{'User-Agent': 'naïve'}],
      [{'User-Agent': ' a'}],
      [{'X\r\nY': 'a'}],
      [{'': 'a'}],
      [{host: 'other.example'}],
      [{'Content-Length': '5'}],
      [{'Transfer-Encoding': 'chunked'}],
      [{Cookie: 'a=b'}],
    ])('policy: the request headers %j are bad_args, and nothing is sent', async headers => {
      const server = await serve({});
      const result = await callTransport(transport, authorizeForTest(`${server.origin}/`), {
        headers: headers as unknown as Record<string, string>,
      });
      expect(result.ok || result.error.code).toBe('bad_args');
      expect(result.ok || result.error.details['field']).toBe('headers');
      expect(server.accepted()).toBe(0);
    });

    test('FR-WF-10d ruling A7 proxies and TLS switches of the environment change nothing', async () => {
      const [server, proxy] = [
        await serve({'/': (_request, response) => response.end('direct')}),
        await serve({}),
      ];
      for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY'])
        vi.stubEnv(name, proxy.origin);
      vi.stubEnv('NODE_USE_ENV_PROXY', '1');
      const fresh = createHttpTransport();
      closers.push(fresh.close);
      const result = await callTransport(fresh, authorizeForTest(`${server.origin}/`));
      expect(result.ok && Buffer.from(result.value.body).toString()).toBe('direct');
      expect(proxy.accepted()).toBe(0);
    });
  });

  describe('bodies', () => {
    test('IT-WF-HTTP-04 the limit counts decoded bytes and is exact', async () => {
      const text = Buffer.from('0123456789'.repeat(100));
      const server = await serve({
        '/length': (_request, response) => response.end(text),
        '/chunked': (_request, response) => {
          response.write(text.subarray(0, 300));
          response.end(text.subarray(300));
        },
        '/gzip': (_request, response) => response.setHeader('Content-Encoding', 'gzip').end(gzipSync(text)),
        '/br': (_request, response) =>
          response.setHeader('Content-Encoding', 'br').end(brotliCompressSync(text)),
      });
      for (const path of ['/length', '/chunked', '/gzip', '/br']) {
        const target = authorizeForTest(`${server.origin}${path}?q=secret`);
        const whole = await callTransport(transport, target, {maxBytes: 1000});
        expect(whole.ok && Buffer.from(whole.value.body)).toEqual(text);
        const refused = await callTransport(transport, target, {maxBytes: 999});
        expect(refused).toMatchObject({
          ok: false,
          error: {code: 'response_too_large', retryable: false, details: {size: 1000, max_bytes: 999}},
        });
        expect(JSON.stringify(refused)).not.toContain('secret');
      }
    });

    test('ruling C2 a Content-Length above the limit is refused before the body comes', async () => {
      const server = await serveRaw(socket =>
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n'),
      );
      const result = await callTransport(transport, authorizeForTest(`${server.origin}/`), {maxBytes: 1024});
      expect(result.ok || result.error.details).toEqual({size: 5_000_000, max_bytes: 1024});
      await server.allClosed();
    });

    test('IT-WF-HTTP-04 a body without end is given up at the limit', async () => {
      const server = await serve({
        '/': (_request, response) => {
          const more = (): void => {
            while (!response.destroyed && response.write(Buffer.alloc(65_536)));
          };
          response.on('drain', more);
          more();
        },
      });
      const result = await callTransport(transport, authorizeForTest(`${server.origin}/`), {
        maxBytes: 1_000_000,
      });
      expect(result.ok || result.error.code).toBe('response_too_large');
      await server.allClosed();
    });

    test('FR-WF-ROBOTS-SIZE-01 a prefix ends where it should, and says whether there was more', async () => {
      const server = await serve({
        '/five': (_request, response) => response.end('12345'),
        '/endless': (_request, response) => response.write('x'.repeat(100_000)),
        '/gzip': (_request, response) =>
          response.setHeader('Content-Encoding', 'gzip').end(gzipSync(Buffer.alloc(10_000_000, 'y'))),
      });
      const prefix = async (path: string, maxBytes: number): Promise<unknown> => {
        const budget = new Deadline(10_000, systemClock);
        const response = await transport.request(
          authorizeForTest(`${server.origin}${path}`),
          {method: 'GET', headers: {}},
          budget,
        );
        const read = response.ok ? await response.value.readPrefix(maxBytes) : response;
        budget.close();
        return read.ok ? [Buffer.from(read.value.bytes).toString(), read.value.cut] : read.error;
      };
      expect(await prefix('/five', 5)).toEqual(['12345', false]);
      expect(await prefix('/five', 6)).toEqual(['12345', false]);
      expect(await prefix('/five', 4)).toEqual(['1234', true]);
      expect(await prefix('/endless', 70_000)).toEqual(['x'.repeat(70_000), true]);
      expect(await prefix('/gzip', 3000)).toEqual(['y'.repeat(3000), true]);
    });

    test('FR-WF-19 a slow reader gets the whole body, and the server is held back meanwhile', {
      tags: 'slow',
    }, async () => {
      const total = 20_000_000;
      let written = 0;
      const server = await serve({
        '/': (_request, response) => {
          response.writeHead(200, {'Content-Length': total});
          const more = (): void => {
            let go = true;
            while (go && written < total) {
              const size = Math.min(100_000, total - written);
              written += size;
              go = response.write(Buffer.alloc(size, 'z'));
            }
          };
          response.on('drain', more);
          more();
        },
      });
      const budget = new Deadline(20_000, systemClock);
      const response = await transport.request(
        authorizeForTest(`${server.origin}/`),
        {method: 'GET', headers: {}},
        budget,
      );
      if (!response.ok) throw new Error(response.error.message);
      for (let turn = 0; turn < 2000; turn += 1) await new Promise(setImmediate);
      expect(written).toBeLessThan(total);
      const body = await response.value.read(total);
      budget.close();
      expect(body.ok && body.value.length).toBe(total);
    });

    test('policy: a body can be read once', async () => {
      const server = await serve({'/': (_request, response) => response.end('x')});
      const budget = new Deadline(10_000, systemClock);
      const response = await transport.request(
        authorizeForTest(`${server.origin}/`),
        {method: 'GET', headers: {}},
        budget,
      );
      if (!response.ok) throw new Error(response.error.message);
      await response.value.read(10);
      await expect(response.value.read(10)).rejects.toThrow('read once');
      response.value.discard();
      budget.close();
    });
  });

  describe('connections', () => {
    const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi';

    test('ruling A7 a kept-alive connection serves the same scheme, host, port and address only', async () => {
      const server = await serve({'*': (_request, response) => response.end('hi')}, {address: '0.0.0.0'});
      const {port} = server;
      const fetch = (host: string, address: string): ReturnType<typeof callTransport> =>
        callTransport(transport, authorizeForTest(`http://${host}:${port}/`, [address]));
      await fetch('a.example', '127.0.0.1');
      await fetch('a.example', '127.0.0.1');
      await fetch('a.example.', '127.0.0.1');
      expect(server.accepted()).toBe(1);
      await fetch('b.example', '127.0.0.1');
      expect(server.accepted()).toBe(2);
      await fetch('a.example', '127.0.0.2');
      expect(server.accepted()).toBe(3);
      // The connection is there, but its address is not checked for this target.
      const unpinned = await callTransport(
        transport,
        authorizeForTest(`http://a.example:${port}/`, ['127.0.0.1'], ['127.0.0.9']),
      );
      expect(unpinned.ok || unpinned.error.code).toBe('ssrf_blocked');
    });

    test('policy: a resting connection that the server ended is replaced, once', async () => {
      const script: RawScript = (socket, {index}) => {
        if (index === 0) socket.write(answer);
        else socket.destroy();
      };
      const server = await serveRaw(script);
      for (let round = 0; round < 3; round += 1) {
        const result = await callTransport(transport, authorizeForTest(`${server.origin}/`));
        expect(result.ok && Buffer.from(result.value.body).toString()).toBe('hi');
      }
      expect(server.accepted()).toBe(3);
      expect(server.heads.length).toBe(5);
    });

    test('FR-WF-19 a request is not repeated once a byte of the answer has come', async () => {
      const server = await serveRaw((socket, {index}) => {
        if (index === 0) socket.write(answer);
        else socket.end('HTTP/1.1 2');
      });
      await callTransport(transport, authorizeForTest(`${server.origin}/`));
      const result = await callTransport(transport, authorizeForTest(`${server.origin}/`));
      expect(result.ok || result.error.details['error']).toBe('connection_closed');
      expect(server.accepted()).toBe(1);
    });

    test('policy: a fresh connection that is reset is not tried again', async () => {
      const server = await serveRaw(socket => socket.resetAndDestroy());
      const result = await callTransport(transport, authorizeForTest(`${server.origin}/`));
      expect(result.ok || result.error.details['error']).toBe('connection_reset');
      expect(server.accepted()).toBe(1);
    });

    // Sooner than the rest of four seconds would end it.
    test('policy: bytes that were not asked for end an idle connection', {timeout: 3000}, async () => {
      let first: Socket | undefined;
      const server = await serveRaw(socket => {
        first ??= socket;
        socket.write(answer);
      });
      await callTransport(transport, authorizeForTest(`${server.origin}/`));
      first?.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil');
      await server.allClosed();
      const result = await callTransport(transport, authorizeForTest(`${server.origin}/`));
      expect(result.ok && Buffer.from(result.value.body).toString()).toBe('hi');
    });

    test('policy: at most six connections to one place rest', async () => {
      const server = await serve({'/': (_request, response) => response.end('hi')});
      const target = authorizeForTest(`${server.origin}/`);
      await Promise.all(Array.from({length: 10}, () => callTransport(transport, target)));
      expect(server.accepted()).toBe(10);
      await expect.poll(() => server.open()).toBe(6);
    });

    test('policy: a resting connection does not keep the process alive', async () => {
      const server = await serve({'/': (_request, response) => response.end('hi')});
      const sockets = (): number =>
        process.getActiveResourcesInfo().filter(name => name === 'TCPSocketWrap').length;
      const before = sockets();
      await callTransport(transport, authorizeForTest(`${server.origin}/`));
      // The server's end of the connection counts; ours does not.
      expect([server.open(), sockets() - before]).toEqual([1, 1]);
    });

    test('policy: discard keeps a connection whose body has come, and closes any other', async () => {
      const server = await serve({
        '/short': (_request, response) => response.end('short'),
        '/long': (_request, response) => response.writeHead(200, {'Content-Length': 10}).write('12345'),
      });
      for (const [path, open] of [
        ['/short', 1],
        ['/long', 0],
      ] as const) {
        const budget = new Deadline(10_000, systemClock);
        const target = authorizeForTest(`${server.origin}${path}`);
        const response = await transport.request(target, {method: 'GET', headers: {}}, budget);
        if (!response.ok) throw new Error(response.error.message);
        response.value.discard();
        response.value.discard();
        if (open === 0) await server.allClosed();
        expect([path, server.open()]).toEqual([path, open]);
        budget.close();
      }
    });

    test('policy: close ends resting and busy connections, and refuses what comes after', async () => {
      const server = await serve({'/rest': (_request, response) => response.end('hi'), '/hang': () => {}});
      await Promise.all(
        [1, 2].map(() => callTransport(transport, authorizeForTest(`${server.origin}/rest`))),
      );
      const hanging = callTransport(transport, authorizeForTest(`${server.origin}/hang`));
      await expect.poll(() => server.requests).toContain('GET /hang');
      await transport.close();
      expect(await hanging).toMatchObject({ok: false, error: {code: 'cancelled'}});
      await server.allClosed();
      const late = await callTransport(transport, authorizeForTest(`${server.origin}/rest`));
      expect(late.ok || late.error.code).toBe('cancelled');
      expect(server.accepted()).toBe(2);
    });
  });

  describe('the budget', () => {
    const HEAD = 'HTTP/1.1 200 OK\r\n';
    const cases: readonly (readonly [string, string, string])[] = [
      ['headers', 'nothing', ''],
      ['headers', 'half a head', 'HTTP/1.1 200 OK\r\nA: b'],
      ['headers', 'informational responses', 'HTTP/1.1 103 x\r\n\r\n'],
      ['body', 'half a body', `${HEAD}Content-Length: 9\r\n\r\nhello`],
      ['body', 'half a chunk', `${HEAD}Transfer-Encoding: chunked\r\n\r\n9\r\nhello`],
      ['body', 'a body until close', `${HEAD}\r\nhello`],
      ['body', 'half a gzip body', `${HEAD}Content-Encoding: gzip\r\nContent-Length: 99\r\n\r\n\x1f\x8b\x08`],
    ];

    test.each(cases)(
      'ruling C3 the deadline in phase %s ends a server that sends %s',
      async (phase, _name, bytes) => {
        const clock = createManualClock();
        const budget = new Deadline(5000, clock);
        const server = await serveRaw(socket => {
          socket.write(bytes, 'latin1', () => setTimeout(() => clock.advance(5000), 10));
        });
        const result = await callTransport(transport, authorizeForTest(`${server.origin}/?q=secret`), {
          budget,
        });
        expect(result).toMatchObject({
          ok: false,
          error: {code: 'timeout', retryable: true, details: {timeout_ms: 5000, phase}},
        });
        await server.allClosed();
        expect(getEventListeners(budget.signal, 'abort')).toEqual([]);
        budget.close();
      },
    );

    test('ruling C3 the caller may cancel, and every socket, timer and listener is gone', async () => {
      const timers = (): number => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length;
      const server = await serveRaw(socket => socket.write(`${HEAD}Content-Length: 9\r\n\r\nhello`));
      const before = timers();
      const caller = new AbortController();
      const budget = new Deadline(60_000, systemClock, caller.signal);
      const target = authorizeForTest(`${server.origin}/`);
      const response = await transport.request(target, {method: 'GET', headers: {}}, budget);
      const body = response.ok ? response.value.read(100) : undefined;
      caller.abort();
      expect(await body).toMatchObject({ok: false, error: {code: 'cancelled', details: {phase: 'body'}}});
      await server.allClosed();
      budget.close();
      expect(getEventListeners(budget.signal, 'abort')).toEqual([]);
      expect(getEventListeners(caller.signal, 'abort')).toEqual([]);
      // A timer of another test may end meanwhile; none is added.
      expect(timers()).toBeLessThanOrEqual(before);
    });

    test('policy: a call that succeeds leaves no listener on its signal', async () => {
      const server = await serve({'/': (_request, response) => response.end('hi')});
      const budget = new Deadline(10_000, systemClock);
      for (let round = 0; round < 3; round += 1) {
        await callTransport(transport, authorizeForTest(`${server.origin}/`), {budget});
      }
      expect(getEventListeners(budget.signal, 'abort')).toEqual([]);
      budget.close();
    });

    test('policy: a spent budget opens no connection', async () => {
      const server = await serve({});
      const clock = createManualClock();
      const budget = new Deadline(1000, clock);
      clock.advance(1000);
      const result = await callTransport(transport, authorizeForTest(`${server.origin}/`), {budget});
      expect(result.ok || result.error.code).toBe('timeout');
      expect(server.accepted()).toBe(0);
    });

    test('ruling C3 the budget also ends a resting connection that is used again', async () => {
      const clock = createManualClock();
      const server = await serveRaw((socket, {index}) => {
        if (index === 0) socket.write(`${HEAD}Content-Length: 0\r\n\r\n`);
        else clock.advance(5000);
      });
      await callTransport(transport, authorizeForTest(`${server.origin}/`));
      const [result] = await Promise.all([
        callTransport(transport, authorizeForTest(`${server.origin}/`), {clock, timeoutMs: 5000}),
        once(AbortSignal.timeout(1), 'abort'),
      ]);
      expect(result).toMatchObject({ok: false, error: {code: 'timeout', details: {phase: 'headers'}}});
      expect(server.accepted()).toBe(1);
    });
  });
});

const MAX_BYTES = 1000;
const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;

interface Behaviour {
  readonly name: string;
  /** What the server sends. */
  readonly bytes: string | Buffer;
  /** What it does then; the client has to end the connection itself where it is `wait`. */
  readonly then?: 'close' | 'wait';
  readonly method?: 'HEAD';
  /** The body, or the error. */
  readonly expected:
    | {readonly body: string}
    | {readonly error: keyof typeof NETWORK_ERRORS}
    | {readonly size: number};
}

function coded(coding: string, body: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`${OK}Content-Encoding: ${coding}\r\nContent-Length: ${body.length}\r\n\r\n`),
    body,
  ]);
}

const good = (
  name: string,
  bytes: string | Buffer,
  body: string,
  then: 'close' | 'wait' = 'wait',
): Behaviour => ({
  name,
  bytes,
  then,
  expected: {body},
});
const bad = (
  name: string,
  bytes: string | Buffer,
  error: keyof typeof NETWORK_ERRORS,
  then: 'close' | 'wait' = 'wait',
): Behaviour => ({name, bytes, then, expected: {error}});
const large = (name: string, bytes: string | Buffer, size: number): Behaviour => ({
  name,
  bytes,
  expected: {size},
});

const HELLO = Buffer.from('hello');
const EMPTY_GZIP_HEAD = Buffer.from(`${OK}Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n`);
const EMPTY_GZIP_CHUNK = Buffer.concat([Buffer.from('14\r\n'), gzipSync(''), Buffer.from('\r\n')]);
// biome-ignore format: a case is a line
const BEHAVIOURS: readonly Behaviour[] = [
  good('a Content-Length body', `${OK}Content-Length: 5\r\n\r\nhello`, 'hello'),
  good('a chunked body', `${CHUNKED}3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n`, 'hello'),
  good('extensions and trailers', `${CHUNKED}5;a=b\r\nhello\r\n0;c\r\nT: u\r\n\r\n`, 'hello'),
  good('a body until close', `${OK}\r\nhello`, 'hello', 'close'),
  good('HTTP/1.0', 'HTTP/1.0 200 OK\r\n\r\nhello', 'hello', 'close'),
  good('no reason phrase', 'HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n', ''),
  good('204', 'HTTP/1.1 204 No Content\r\n\r\n', ''),
  good('304 with Content-Length', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 99999\r\n\r\n', ''),
  {name: 'HEAD', bytes: `${OK}Content-Length: 99999\r\n\r\n`, method: 'HEAD', expected: {body: ''}},
  good('eight informational responses', `${'HTTP/1.1 103 x\r\n\r\n'.repeat(8)}${OK}Content-Length: 0\r\n\r\n`, ''),
  good('100 Continue', `HTTP/1.1 100 Continue\r\n\r\n${OK}Content-Length: 2\r\n\r\nhi`, 'hi'),
  good('256 fields', `${OK}${'A: b\r\n'.repeat(255)}Content-Length: 2\r\n\r\nhi`, 'hi'),
  good('the same Content-Length twice', `${OK}Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi`, 'hi'),
  good('a body as large as the limit', `${OK}Content-Length: 1000\r\n\r\n${'x'.repeat(1000)}`, 'x'.repeat(1000)),
  good('surplus after the body', `${OK}Content-Length: 2\r\n\r\nhiHTTP/1.1 200 OK\r\n\r\n`, 'hi'),
  good('gzip', coded('gzip', gzipSync(HELLO)), 'hello'),
  good('x-gzip', coded('x-gzip', gzipSync(HELLO)), 'hello'),
  good('gzip members', coded('gzip', Buffer.concat([gzipSync('hel'), gzipSync('lo')])), 'hello'),
  good('zlib deflate', coded('deflate', deflateSync(HELLO)), 'hello'),
  good('raw deflate', coded('Deflate', deflateRawSync(HELLO)), 'hello'),
  good('brotli', coded('br', brotliCompressSync(HELLO)), 'hello'),
  good('identity', coded('identity', HELLO), 'hello'),
  good('gzip in brotli', coded('gzip, br', brotliCompressSync(gzipSync(HELLO))), 'hello'),
  good('an empty gzip body', `${OK}Content-Encoding: gzip\r\nContent-Length: 0\r\n\r\n`, ''),
  bad('a flood of informational responses', 'HTTP/1.1 103 x\r\n\r\n'.repeat(100_000), 'too_many_informational'),
  bad('101', 'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n', 'unexpected_upgrade'),
  bad('HTTP/0.9', '<html>hello</html>', 'malformed_status_line'),
  bad('HTTP/2', 'HTTP/2 200\r\n\r\n', 'malformed_status_line'),
  bad('another protocol', '220 mail.example ESMTP\r\n', 'malformed_status_line'),
  bad('status 999', 'HTTP/1.1 999 x\r\n\r\n', 'malformed_status_line'),
  bad('two blanks before the status', 'HTTP/1.1  200 OK\r\n\r\n', 'malformed_status_line'),
  bad('an escape in the reason', 'HTTP/1.1 200 \x1b[2J\r\n\r\n', 'malformed_status_line'),
  bad('bare LF', 'HTTP/1.1 200 OK\nContent-Length: 0\n\n', 'malformed_header'),
  bad('a bare CR in a value', `${OK}A: b\rC: d\r\n\r\n`, 'malformed_header'),
  bad('a NUL in a value', `${OK}A: b\0c\r\n\r\n`, 'malformed_header'),
  bad('a blank before the colon', `${OK}Content-Length : 5\r\n\r\nhello`, 'malformed_header'),
  bad('a field without colon', `${OK}nonsense\r\n\r\n`, 'malformed_header'),
  bad('an empty field name', `${OK}: x\r\n\r\n`, 'malformed_header'),
  bad('obs-fold', `${OK}A: b\r\n c: d\r\n\r\n`, 'obsolete_line_folding'),
  bad('a blank after the status line', `${OK}\tA: b\r\n\r\n`, 'obsolete_line_folding'),
  bad('headers above 64 KiB', `${OK}A: ${'x'.repeat(66_000)}\r\n\r\n`, 'header_block_too_large'),
  bad('headers that never end', `${OK}A: ${'x'.repeat(66_000)}`, 'header_block_too_large'),
  bad('257 fields', `${OK}${'A: b\r\n'.repeat(257)}\r\n`, 'too_many_header_fields'),
  bad('3000 fields', `${OK}${'A: b\r\n'.repeat(3000)}\r\n`, 'too_many_header_fields'),
  bad('Transfer-Encoding gzip, chunked', `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n`, 'unsupported_transfer_encoding'),
  bad('Transfer-Encoding identity', `${OK}Transfer-Encoding: identity\r\n\r\n`, 'unsupported_transfer_encoding'),
  bad('Transfer-Encoding xchunked', `${OK}Transfer-Encoding: xchunked\r\n\r\n`, 'unsupported_transfer_encoding'),
  bad('chunked twice', `${OK}${'Transfer-Encoding: chunked\r\n'.repeat(2)}\r\n`, 'unsupported_transfer_encoding'),
  bad('regression: NBSP is no blank before chunked', `${OK}Transfer-Encoding: \xa0chunked\r\n\r\n`, 'unsupported_transfer_encoding'),
  bad('regression: NBSP is no blank after a Content-Length', `${OK}Content-Length: 5\xa0\r\n\r\nhello`, 'invalid_content_length'),
  bad('an empty Transfer-Encoding', `${OK}Transfer-Encoding:\r\n\r\n`, 'unsupported_transfer_encoding'),
  bad('chunked in HTTP/1.0', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', 'unsupported_transfer_encoding'),
  bad('both lengths', `${OK}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n`, 'conflicting_framing'),
  bad('two Content-Lengths', `${OK}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`, 'conflicting_framing'),
  bad('a list of Content-Lengths', `${OK}Content-Length: 5, 6\r\n\r\nhello`, 'conflicting_framing'),
  bad('Content-Length +5', `${OK}Content-Length: +5\r\n\r\nhello`, 'invalid_content_length'),
  bad('Content-Length -1', `${OK}Content-Length: -1\r\n\r\n`, 'invalid_content_length'),
  bad('Content-Length 0x5', `${OK}Content-Length: 0x5\r\n\r\nhello`, 'invalid_content_length'),
  bad('an empty Content-Length', `${OK}Content-Length:\r\n\r\n`, 'invalid_content_length'),
  bad('a huge Content-Length', `${OK}Content-Length: 99999999999999999999\r\n\r\n`, 'invalid_content_length'),
  bad('a chunk size that is no number', `${CHUNKED}zz\r\n`, 'malformed_chunk'),
  bad('a chunk size of many digits', `${CHUNKED}${'0'.repeat(40)}5\r\n`, 'malformed_chunk'),
  bad('a chunk longer than its size', `${CHUNKED}3\r\nhello\r\n0\r\n\r\n`, 'malformed_chunk'),
  bad('a bare LF in a chunk header', `${CHUNKED}5;a\nhello\r\n0\r\n\r\n`, 'malformed_chunk'),
  bad('a bare LF in a trailer', `${CHUNKED}0\r\nA: b\n\r\n`, 'malformed_chunk'),
  bad('a long chunk extension', `${CHUNKED}5;${'x'.repeat(20_000)}`, 'chunk_overhead_too_large'),
  bad('many chunk extensions', CHUNKED + `1;${'x'.repeat(500)}\r\na\r\n`.repeat(40), 'chunk_overhead_too_large'),
  bad('endless trailers', `${CHUNKED}0\r\n${'A: b\r\n'.repeat(10_000)}`, 'chunk_overhead_too_large'),
  bad('nothing, then close', '', 'connection_closed', 'close'),
  bad('half a head, then close', 'HTTP/1.1 200 OK\r\nA:', 'connection_closed', 'close'),
  bad('a short Content-Length body', `${OK}Content-Length: 9\r\n\r\nhello`, 'truncated_body', 'close'),
  bad('an unfinished chunked body', `${CHUNKED}5\r\nhello\r\n`, 'truncated_body', 'close'),
  bad('no final CRLF', `${CHUNKED}5\r\nhello\r\n0\r\n`, 'truncated_body', 'close'),
  bad('truncated gzip', coded('gzip', gzipSync(HELLO).subarray(0, -4)), 'broken_content_encoding'),
  bad('gzip with a wrong checksum', coded('gzip', Buffer.concat([gzipSync(HELLO).subarray(0, -8), Buffer.alloc(8)])), 'broken_content_encoding'),
  bad('truncated brotli', coded('br', brotliCompressSync(HELLO).subarray(0, -1)), 'broken_content_encoding'),
  bad('text called deflate', coded('deflate', Buffer.from('plain text')), 'broken_content_encoding'),
  bad('garbage after gzip', coded('gzip', Buffer.concat([gzipSync(HELLO), HELLO])), 'broken_content_encoding'),
  bad('an unknown coding', coded('zstd', HELLO), 'unsupported_content_encoding'),
  bad('three layers', coded('gzip, gzip, gzip', gzipSync(gzipSync(gzipSync(HELLO)))), 'too_many_content_encodings'),
  large('a Content-Length above the limit', `${OK}Content-Length: 1001\r\n\r\n`, 1001),
  large('endless chunks', CHUNKED + '100\r\n'.concat('x'.repeat(256), '\r\n').repeat(200), 1001),
  large('chunks of one byte', CHUNKED + '1\r\nx\r\n'.repeat(20_000), 1001),
  large('an endless body until close', `${OK}\r\n${'x'.repeat(100_000)}`, 1001),
  large('a gzip bomb', coded('gzip', gzipSync(Buffer.alloc(500_000))), 1001),
  large('a nested bomb', coded('gzip, br', brotliCompressSync(gzipSync(Buffer.alloc(8_000_000)))), 1001),
  large('empty gzip members without end', Buffer.concat([EMPTY_GZIP_HEAD, ...Array(60).fill(EMPTY_GZIP_CHUNK)]), 1001),
];

describe.each(['http', 'https'] as const)('over %s', scheme => {
  const authority = createCertificateAuthority();
  let transport: HttpTransport;
  let server: RawServer;
  let current: Behaviour | undefined;

  beforeAll(async () => {
    transport = createHttpTransport({ca: [authority.pem]});
    const certificate = scheme === 'https' ? {certificate: authority.issue({names: ['wire.example']})} : {};
    server = await startRawServer(socket => {
      socket.write(current?.bytes ?? '', 'latin1');
      if (current?.then === 'close') socket.end();
    }, certificate);
  });
  afterAll(async () => {
    await transport.close();
    await server.close();
  });

  test.each(BEHAVIOURS.map(behaviour => [behaviour.name, behaviour] as const))(
    'ruling C2 %s',
    async (_name, behaviour) => {
      current = behaviour;
      const method = behaviour.method ?? 'GET';
      const target = authorizeForTest(`${scheme}://wire.example:${server.port}/?secret=1`);
      const result = await callTransport(transport, target, {method, maxBytes: MAX_BYTES});
      const {expected} = behaviour;
      if ('body' in expected) {
        expect(result.ok && Buffer.from(result.value.body).toString()).toBe(expected.body);
        return;
      }
      if (result.ok) throw new Error('Expected a failure.');
      expect(JSON.stringify(result.error)).not.toContain('secret');
      if ('error' in expected) {
        expect(result.error).toMatchObject({code: 'network', retryable: true});
        expect(result.error.details).toMatchObject({error: expected.error, host: 'wire.example'});
      } else {
        expect(result.error.code).toBe('response_too_large');
        expect(result.error.details['max_bytes']).toBe(MAX_BYTES);
        expect(result.error.details['size']).toBeGreaterThanOrEqual(expected.size);
      }
      // The client hangs up, though the server does not; unless the message itself was whole and well-formed.
      const whole = Buffer.isBuffer(behaviour.bytes) && behaviour.bytes.includes('Content-Length');
      if (whole) expect(server.open()).toBe(1);
      else await server.allClosed();
    },
  );
});

test('policy: every wire error of the table has a behaviour that causes it', () => {
  const caused = new Set(BEHAVIOURS.flatMap(({expected}) => ('error' in expected ? [expected.error] : [])));
  const elsewhere =
    /^(connection_(refused|timed_out|reset)|(host|network)_un|address_|connect_f|tls_|proxy_|socket_)/;
  const wire = Object.keys(NETWORK_ERRORS).filter(error => !elsewhere.test(error));
  expect([...caused].sort()).toEqual(wire.sort());
});
