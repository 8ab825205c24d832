import {afterEach, describe, expect, test} from 'vitest';
import {authorizeForTest} from '../../../test/support/authorize-for-test.ts';
import {callTransport} from '../../../test/support/call-transport.ts';
import {createCertificateAuthority} from '../../../test/support/certificates.ts';
import {startHttpServer} from '../../../test/support/http-server.ts';
import {createManualClock} from '../../../test/support/manual-clock.ts';
import {startProxyServer} from '../../../test/support/proxy-server.ts';
import {startRawServer} from '../../../test/support/raw-server.ts';
import {Deadline} from '../../core/deadline.ts';
import type {HttpTransport} from '../page.ts';
import {createHttpTransport} from './http-transport.ts';
import {proxyFor, readProxySettings} from './proxy.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function through(proxyUrl: string, ca: readonly string[] = [], noProxy = ''): HttpTransport {
  const settings = readProxySettings({http_proxy: proxyUrl, https_proxy: proxyUrl, no_proxy: noProxy});
  if (!settings.ok) throw new Error(settings.error.message);
  const transport = createHttpTransport({proxy: settings.value, ca});
  closers.push(transport.close);
  return transport;
}

async function start<Server extends {readonly close: () => Promise<void>}>(
  server: Promise<Server>,
): Promise<Server> {
  const started = await server;
  closers.push(started.close);
  return started;
}

const hello = {'*': (_request: unknown, response: {end: (body: string) => unknown}) => response.end('hello')};

describe('ruling A8: through a proxy', () => {
  test('ruling A8 the proxy is asked for the pinned address, for http too', async () => {
    const server = await start(startHttpServer(hello));
    const proxy = await start(startProxyServer());
    const result = await callTransport(
      through(proxy.origin),
      authorizeForTest(`http://nowhere.invalid:${server.port}/`),
    );
    expect(result.ok && Buffer.from(result.value.body).toString()).toBe('hello');
    expect(proxy.connects).toEqual([`127.0.0.1:${server.port}`]);
    expect(proxy.requests).toEqual([]);
    expect(server.requestHeaders[0]?.host).toBe(`nowhere.invalid:${server.port}`);
  });

  test('ruling A8 SNI and certificate check are on the name', async () => {
    const authority = createCertificateAuthority();
    const proxy = await start(startProxyServer());
    for (const [names, outcome] of [
      [['shop.example'], 200],
      [['127.0.0.1'], 'tls_validation_failed'],
    ] as const) {
      const server = await start(startHttpServer(hello, {certificate: authority.issue({names})}));
      const transport = through(proxy.origin, [authority.pem]);
      const result = await callTransport(transport, authorizeForTest(`https://shop.example:${server.port}/`));
      expect(result.ok ? result.value.status : result.error.details['error']).toBe(outcome);
    }
  });

  test('ruling A8 tunnels are kept alive, and closed with the transport', async () => {
    const server = await start(startHttpServer(hello));
    const proxy = await start(startProxyServer());
    const transport = through(proxy.origin);
    for (let round = 0; round < 3; round += 1)
      await callTransport(transport, authorizeForTest(`${server.origin}/`));
    expect([proxy.accepted(), server.accepted()]).toEqual([1, 1]);
    await transport.close();
    await proxy.allClosed();
  });

  test('ruling A8 an address that is not pinned is not asked for', async () => {
    const proxy = await start(startProxyServer());
    const target = authorizeForTest('http://rebound.example:80/', ['127.0.0.1'], ['93.184.216.34']);
    const result = await callTransport(through(proxy.origin), target);
    expect(result.ok || result.error.code).toBe('ssrf_blocked');
    expect(proxy.accepted()).toBe(0);
  });

  test('ruling A8 IPv6 addresses are asked for in brackets', async () => {
    const server = await start(startHttpServer(hello));
    const authority = `[2001:db8::1]:${server.port}`;
    const proxy = await start(
      startProxyServer({route: {[authority]: {host: '127.0.0.1', port: server.port}}}),
    );
    const target = authorizeForTest(`http://six.example:${server.port}/`, ['2001:db8::1']);
    expect((await callTransport(through(proxy.origin), target)).ok).toBe(true);
    expect(proxy.connects).toEqual([authority]);
  });

  test('ruling A8 credentials come from the userinfo, and are never shown', async () => {
    const server = await start(startHttpServer(hello));
    const authorization = `Basic ${Buffer.from('us:er:pass@word').toString('base64')}`;
    const proxy = await start(startProxyServer({authorization}));
    const place = `127.0.0.1:${proxy.port}`;
    const good = await callTransport(
      through(`http://us%3Aer:pass%40word@${place}`),
      authorizeForTest(`${server.origin}/`),
    );
    expect(good.ok && good.value.status).toBe(200);
    const bad = await callTransport(
      through(`http://user:wrong@${place}`),
      authorizeForTest(`${server.origin}/`),
    );
    expect(bad.ok || bad.error.details).toMatchObject({error: 'proxy_auth_required', status: 407});
    expect(JSON.stringify(bad)).not.toContain('wrong');
  });

  test('ruling A5 an address that the proxy cannot reach leads to the next, a refusal does not', async () => {
    const server = await start(startHttpServer(hello, {address: '127.0.0.3'}));
    const {port} = server;
    const target = authorizeForTest(`http://many.example:${port}/`, ['127.0.0.2', '127.0.0.3']);
    for (const [status, outcome] of [
      [502, 200],
      [403, 'proxy_refused'],
    ] as const) {
      const proxy = await start(startProxyServer({refuse: {[`127.0.0.2:${port}`]: status}}));
      const result = await callTransport(through(proxy.origin), target);
      expect(result.ok ? result.value.status : result.error.details['error']).toBe(outcome);
    }
  });

  test.each([
    ['no HTTP', 'SSH-2.0\r\n', 'proxy_broken'],
    ['endless headers', `HTTP/1.1 200 OK\r\n${'A: b\r\n'.repeat(20_000)}`, 'proxy_broken'],
    ['bytes of its own after the head', 'HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n', 'proxy_broken'],
    ['a redirect', 'HTTP/1.1 302 Found\r\nLocation: http://a/\r\n\r\n', 'proxy_refused'],
  ])('ruling A8 a proxy that sends %s is refused', async (_name, bytes, error) => {
    const proxy = await start(startRawServer(socket => socket.write(bytes)));
    const result = await callTransport(through(proxy.origin), authorizeForTest('http://a.example:80/'));
    expect(result.ok || result.error.details['error']).toBe(error);
    await proxy.allClosed();
  });

  test('ruling A8 a proxy that hangs up or is not there', async () => {
    const proxy = await start(startRawServer(socket => socket.destroy()));
    const broken = await callTransport(through(proxy.origin), authorizeForTest('http://a.example:80/'));
    expect(broken.ok || broken.error.details['error']).toBe('proxy_broken');
    await proxy.close();
    const gone = await callTransport(through(proxy.origin), authorizeForTest('http://a.example:80/'));
    expect(gone.ok || gone.error.details).toMatchObject({error: 'proxy_unreachable', reason: 'ECONNREFUSED'});
  });

  test('ruling C3 a proxy that never answers is a timeout in phase connect', async () => {
    const clock = createManualClock();
    const budget = new Deadline(5000, clock);
    const proxy = await start(startRawServer(() => setImmediate(() => clock.advance(5000))));
    const result = await callTransport(through(proxy.origin), authorizeForTest('http://a.example:80/'), {
      budget,
    });
    expect(result).toMatchObject({ok: false, error: {code: 'timeout', details: {phase: 'connect'}}});
    await proxy.allClosed();
    budget.close();
  });

  test('ruling A8 NO_PROXY goes direct', async () => {
    const server = await start(startHttpServer(hello));
    const proxy = await start(startProxyServer());
    const transport = through(proxy.origin, [], '.direct.example');
    await callTransport(transport, authorizeForTest(`http://www.direct.example:${server.port}/`));
    expect(proxy.accepted()).toBe(0);
    await callTransport(transport, authorizeForTest(`http://www.proxied.example:${server.port}/`));
    expect(proxy.accepted()).toBe(1);
  });
});

describe('ruling A8: the settings', () => {
  const proxied = (noProxy: string, href: string): boolean => {
    const settings = readProxySettings({HTTP_PROXY: 'proxy.example:3128', NO_PROXY: noProxy});
    if (!settings.ok) throw new Error(settings.error.message);
    return proxyFor(settings.value, authorizeForTest(href).url) !== undefined;
  };

  test.each([
    ['', 'http://example.com/', true],
    ['*', 'http://example.com/', false],
    ['example.com', 'http://example.com/', false],
    ['EXAMPLE.com.', 'http://example.com./', false],
    ['example.com', 'http://www.example.com/', false],
    ['example.com', 'http://notexample.com/', true],
    ['.example.com', 'http://www.example.com/', false],
    ['.example.com', 'http://example.com/', true],
    ['*.example.com', 'http://a.b.example.com/', false],
    ['example.com:8080', 'http://example.com:8080/', false],
    ['example.com:8080', 'http://example.com/', true],
    ['a.example, b.example  c.example', 'http://c.example/', false],
    ['10.0.0.0/8', 'http://10.1.2.3/', false],
    ['10.0.0.0/8', 'http://11.1.2.3/', true],
    ['10.0.0.0/8', 'http://ten.example/', true],
    ['10.0.0.0/99', 'http://10.1.2.3/', true],
    ['10.1.2.3', 'http://10.1.2.3/', false],
    ['10.1.2.3:81', 'http://10.1.2.3/', true],
    ['::1', 'http://[::1]/', false],
    ['[::1]:80', 'http://[::1]/', false],
    ['2001:db8::/32', 'http://[2001:db8::5]/', false],
    ['0.0.0.0/0', 'http://[2001:db8::5]/', true],
    ['::ffff:10.0.0.0/104', 'http://10.1.2.3/', false],
    // An IPv4-compatible address is not the IPv4 address, and a short form is a name here.
    ['::1.2.3.4', 'http://1.2.3.4/', true],
    ['10.1', 'http://10.0.0.1/', true],
    ['com', 'http://example.com/', false],
    ['[', 'http://example.com/', true],
    [':', 'http://example.com/', true],
  ])('ruling A8 NO_PROXY=%j, %s: through the proxy is %j', (noProxy, href, expected) => {
    expect(proxied(noProxy, href)).toBe(expected);
  });

  test('ruling A8 lower case wins, each scheme has its own, nothing is no proxy', () => {
    const settings = readProxySettings({
      HTTP_PROXY: 'http://upper:1',
      http_proxy: 'http://lower:2',
      HTTPS_PROXY: 'http://[2001:db8::1]:3',
    });
    expect(settings.ok && settings.value.http).toEqual({host: 'lower', port: 2, authorization: undefined});
    expect(settings.ok && settings.value.https?.host).toBe('2001:db8::1');
    expect(readProxySettings({})).toEqual({
      ok: true,
      value: {http: undefined, https: undefined, noProxy: []},
    });
    const plain = readProxySettings({http_proxy: 'proxy.example'});
    expect(plain.ok && plain.value.http).toMatchObject({host: 'proxy.example', port: 80});
  });

  test.each([
    'socks5://user:secret@proxy:1080',
    'https://user:secret@proxy',
    'http://',
    'http://user:%zz@proxy',
  ])('ruling A8 a proxy that cannot be used is bad_args, not a direct connection: %s', value => {
    const settings = readProxySettings({HTTPS_PROXY: value});
    expect(settings).toMatchObject({ok: false, error: {code: 'bad_args', details: {field: 'HTTPS_PROXY'}}});
    expect(JSON.stringify(settings)).not.toContain('secret');
  });
});
