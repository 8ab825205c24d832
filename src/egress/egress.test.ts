import {createHash, randomBytes} from 'node:crypto';
import {once} from 'node:events';
import {connect, createServer, type Socket} from 'node:net';
import fc from 'fast-check';
import {describe, expect, onTestFinished, test} from 'vitest';
import {clientHello, extension, record, serverNames} from '../../test/support/egress/client-hello.js';
import type {EgressTarget} from '../core/egress-gate.ts';
import {EGRESS_PRESETS, readAllowList} from './allow-list.ts';
import {parseProxyRequest} from './proxy-request.ts';
import {PieceReader} from './sockets.ts';
import {readClientHello, TlsRecords} from './tls-names.ts';

const https = (host: string, port = 443): EgressTarget => ({scheme: 'https', host, port});
const http = (host: string, port = 80): EgressTarget => ({scheme: 'http', host, port});

function allows(allow: readonly string[], target: EgressTarget): boolean {
  const list = readAllowList({allow, presets: []});
  return list.ok && list.value.allowing(target) !== undefined;
}

describe('tools.run.egress.allow', () => {
  test.each([
    ['a.test', https('a.test'), true],
    ['A.Test', https('a.test'), true],
    ['a.test', https('b.a.test'), false],
    ['a.test', https('a.test', 8443), false],
    ['a.test', http('a.test'), false],
    ['a.test:8443', https('a.test', 8443), true],
    ['a.test:80', http('a.test'), true],
    ['http://a.test', http('a.test'), true],
    ['http://a.test', https('a.test'), false],
    ['http://a.test:8080', http('a.test', 8080), true],
    ['*.a.test', https('b.a.test'), true],
    ['*.a.test', https('c.b.a.test'), true],
    ['*.a.test', https('a.test'), false],
    ['*.a.test', https('evila.test'), false],
    ['*.a.test:8443', https('b.a.test', 8443), true],
  ] as const)('X1 %s and %j: %s', (entry, target, expected) => {
    expect(allows([entry], target)).toBe(expected);
  });

  test.each([
    ...[
      '',
      '*',
      '*.',
      '*.com',
      'a.*.test',
      '127.0.0.1',
      '[::1]',
      'https://a.test',
      'a.test/path',
      'a.test:0',
    ],
    ...['a.test:65536', 'a b.test', 'http://*', 'a.test:443:1'],
  ])('X1 %j stops the start', entry => {
    expect(readAllowList({allow: [entry], presets: []})).toMatchObject({
      ok: false,
      error: [expect.stringContaining(`got ${JSON.stringify(entry)}`)],
    });
  });
});

describe('tools.run.egress.presets', () => {
  test('X1 each of them is of entries that can be read', () => {
    const list = readAllowList({allow: [], presets: Object.keys(EGRESS_PRESETS)});
    expect(list.ok && list.value.isEmpty).toBe(false);
    expect(list.ok && list.value.allowing(https('registry.npmjs.org'))).toBe(
      'tools.run.egress.presets "npm"',
    );
  });

  test('X1 one that is unknown stops the start; without any, nothing is open', () => {
    expect(readAllowList({allow: [], presets: ['maven']})).toMatchObject({
      error: [expect.stringContaining('one of npm, pypi, crates, debian, github, got "maven"')],
    });
    expect(readAllowList({allow: [], presets: ['constructor']}).ok).toBe(false);
    expect(readAllowList({allow: [], presets: []})).toMatchObject({value: {isEmpty: true}});
  });
});

describe('proxy request', () => {
  const CRLF = '\r\n';
  const connect = (target: string, ...fields: readonly string[]) =>
    parseProxyRequest([`CONNECT ${target} HTTP/1.1`, `Host: ${target}`, ...fields].join(CRLF));
  const get = (...lines: readonly string[]) => parseProxyRequest(lines.join(CRLF));

  describe('RFC 9110 §9.3.6 CONNECT', () => {
    test('X1 names a host and a port', () => {
      expect(connect('Registry.Test:443', 'User-Agent: npm', 'Proxy-Connection: keep-alive')).toEqual({
        ok: true,
        value: {target: {scheme: 'https', host: 'registry.test', port: 443}, head: ''},
      });
      expect(connect('registry.test:443', 'Content-Length: 0').ok).toBe(true);
    });

    test.each([
      '127.0.0.1:443',
      '2130706433:443',
      '0x7f000001:443',
      '0x7f.1:443',
      '017700000001:443',
      '127.1:443',
      '127.0.0.1.:443',
      '[::1]:443',
      '[::ffff:127.0.0.1]:443',
      '::1:443',
      'registry.test.:443',
      'registry.test',
      'registry.test:',
      'registry.test:0443',
      'registry.test:+443',
      'registry.test:65536',
      'registry.test:443:443',
      'user@registry.test:443',
      'registry.test%00.evil.test:443',
      'registry.test\0:443',
      'registry。test:443',
      'ⓛocalhost:443',
      'http://registry.test:443',
      'registry.test:443/path',
      '*:443',
      ':443',
      '-a.test:443',
      'a..test:443',
      `${'a'.repeat(64)}.test:443`,
    ])('X1 not %j', target => {
      expect(connect(target).ok).toBe(false);
    });
  });

  describe('RFC 9112 §3.2.2 plain HTTP', () => {
    test('X1 a GET is written anew, without what is about the connection to the proxy', () => {
      expect(
        get(
          'GET http://Deb.Test/a?b=c HTTP/1.1',
          'Host: deb.test',
          'Accept: */*',
          'Proxy-Authorization: Basic x',
          'Connection: keep-alive',
        ),
      ).toEqual({
        ok: true,
        value: {
          target: {scheme: 'http', host: 'deb.test', port: 80},
          head: 'GET /a?b=c HTTP/1.1\r\nHost: deb.test\r\naccept: */*\r\nConnection: close\r\n\r\n',
        },
      });
      expect(get('HEAD http://deb.test:8080 HTTP/1.1', 'Host: deb.test:8080')).toMatchObject({
        ok: true,
        value: {target: {port: 8080}, head: expect.stringContaining('HEAD / HTTP/1.1\r\n')},
      });
    });

    test.each(
      // biome-ignore format: a case is a line
      [
        ['another Host', 'GET http://deb.test/ HTTP/1.1', 'Host: evil.test'],
        ['two Hosts', 'GET http://deb.test/ HTTP/1.1', 'Host: deb.test', 'Host: deb.test'],
        ['no Host', 'GET http://deb.test/ HTTP/1.1'],
        ['a body by length', 'GET http://deb.test/ HTTP/1.1', 'Host: deb.test', 'Content-Length: 5'],
        ['two lengths', 'GET http://deb.test/ HTTP/1.1', 'Host: deb.test', 'Content-Length: 0', 'Content-Length: 0'],
        ['a body in chunks', 'GET http://deb.test/ HTTP/1.1', 'Host: deb.test', 'Transfer-Encoding: chunked'],
        ['chunks in another spelling', 'GET http://deb.test/ HTTP/1.1', 'Host: deb.test', 'transfer-encoding:\tchunked'],
        ['an upgrade', 'GET http://deb.test/ HTTP/1.1', 'Host: deb.test', 'Upgrade: h2c'],
        ['an expectation', 'GET http://deb.test/ HTTP/1.1', 'Host: deb.test', 'Expect: 100-continue'],
        ['a folded line', 'GET http://deb.test/ HTTP/1.1', 'Host: deb.test', ' evil: 1'],
        ['a blank before the colon', 'GET http://deb.test/ HTTP/1.1', 'Host : deb.test'],
        ['a bare line feed', 'GET http://deb.test/ HTTP/1.1', 'Host: deb.test\nHost: evil.test'],
        ['a bare carriage return', 'GET http://deb.test/ HTTP/1.1', 'Host: deb.test\rX: y'],
        ['a NUL', 'GET http://deb.test/ HTTP/1.1', 'Host: deb.test', 'A: \0'],
        ['POST', 'POST http://deb.test/ HTTP/1.1', 'Host: deb.test'],
        ['a user', 'GET http://user@deb.test/ HTTP/1.1', 'Host: deb.test'],
        ['https', 'GET https://deb.test/ HTTP/1.1', 'Host: deb.test'],
        ['a path alone', 'GET / HTTP/1.1', 'Host: deb.test'],
        ['a fragment', 'GET http://deb.test/#x HTTP/1.1', 'Host: deb.test'],
        ['two blanks', 'GET  http://deb.test/ HTTP/1.1', 'Host: deb.test'],
        ['HTTP/2', 'GET http://deb.test/ HTTP/2.0', 'Host: deb.test'],
        ['an address', 'GET http://127.0.0.1/ HTTP/1.1', 'Host: 127.0.0.1'],
        ['too many fields', 'GET http://deb.test/ HTTP/1.1', 'Host: deb.test', ...Array(100).fill('a: b')],
        ['nothing', ''],
      ],
    )('X1 not with %s', (_, ...lines) => {
      expect(get(...lines).ok).toBe(false);
    });
  });
});

const SENT = randomBytes(24 * 1024 * 1024);

/** Two ends of a connection on loopback. */
async function pair(options: object = {}): Promise<readonly [near: Socket, far: Socket]> {
  const server = createServer({allowHalfOpen: true, pauseOnConnect: true});
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('Expected a port');
  const near = connect({port: address.port, host: '127.0.0.1', allowHalfOpen: true, ...options});
  near.pause();
  const [far] = await once(server, 'connection');
  onTestFinished(() => {
    for (const socket of [near, far]) socket.destroy();
    server.close();
  });
  return [near, far];
}

async function openPump(look: (chunk: Buffer) => boolean = () => true) {
  const reader = new PieceReader();
  const [from, source] = await pair({onread: reader.onread});
  const [to, sink] = await pair();
  let passed = 0;
  const counted = (chunk: Buffer): boolean => {
    if (!look(chunk)) return false;
    passed += chunk.length;
    return true;
  };
  return {
    source,
    sink,
    from,
    passed: () => passed,
    start: () => {
      from.once('end', () => to.end());
      reader.pump(from, to, counted);
    },
  };
}

test('X1 what comes down arrives as it was sent, however it is taken', async () => {
  const {source, sink, start} = await openPump();
  source.end(SENT);
  start();
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of sink) {
    hash.update(chunk);
    bytes += chunk.length;
    // Now and then it is not listened for a while.
    if (bytes % 7 === 0) await new Promise(resolve => setImmediate(resolve));
  }
  expect([bytes, hash.digest('hex')]).toEqual([SENT.length, createHash('sha256').update(SENT).digest('hex')]);
});

test('X1 nothing is read that nobody takes', async () => {
  const {source, sink, from, passed, start} = await openPump();
  source.end(SENT);
  start();
  await expect.poll(() => from.isPaused()).toBe(true);
  expect(passed()).toBeLessThan(SENT.length);
  let bytes = 0;
  for await (const chunk of sink) bytes += chunk.length;
  expect(bytes).toBe(SENT.length);
});

test('X1 a piece that may not pass is not passed, and none after it', async () => {
  let looks = 0;
  const {source, sink, passed, start} = await openPump(() => {
    looks += 1;
    return looks === 1;
  });
  sink.resume();
  start();
  source.write('first');
  await expect.poll(() => sink.bytesRead).toBe(5);
  source.write('second');
  await expect.poll(() => looks).toBe(2);
  source.end(SENT);
  await expect.poll(() => source.writableLength).toBeGreaterThan(0);
  expect([passed(), looks, sink.bytesRead]).toEqual([5, 2, 5]);
});

const HOST = 'registry.test';
const GOOD = clientHello(extension(43, Buffer.from([2, 3, 4])), serverNames(HOST));

function stateOf(...chunks: readonly Buffer[]) {
  const records = new TlsRecords(HOST);
  return chunks.map(chunk => records.take(chunk)).at(-1);
}

describe('RFC 8446 §4.1.2 a ClientHello', () => {
  test('X1 names its one host, in any case', () => {
    expect(readClientHello(GOOD)).toEqual({kind: 'named', name: HOST});
    expect(readClientHello(clientHello(serverNames('Registry.TEST')))).toEqual({kind: 'named', name: HOST});
  });

  test.each([
    ['no name', clientHello(), 'names no host'],
    ['two names', clientHello(serverNames(HOST, 'evil.test')), 'exactly one host'],
    ['an empty name', clientHello(serverNames('')), 'exactly one host'],
    ['the extension twice', clientHello(serverNames(HOST), serverNames('evil.test')), 'no ClientHello'],
    ['ECH', clientHello(serverNames(HOST), extension(0xfe0d, Buffer.from([0]))), 'ECH'],
    ['ESNI', clientHello(serverNames(HOST), extension(0xffce, Buffer.from([0]))), 'ECH'],
    ['a ServerHello', Buffer.concat([Buffer.from([2]), GOOD.subarray(1)]), 'no ClientHello'],
    ['something behind it', Buffer.concat([GOOD, Buffer.from([0])]), 'no ClientHello'],
    ['half of it', GOOD.subarray(0, 50), 'no ClientHello'],
  ])('X1 with %s is refused', (_, hello, reason) => {
    expect(readClientHello(hello)).toMatchObject({kind: 'refused', reason: expect.stringContaining(reason)});
  });

  test('X1 no bytes make the reader throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({maxLength: 300}), fc.nat(GOOD.length), (bytes, at) => {
        const mixed = Buffer.concat([GOOD.subarray(0, at), bytes, GOOD.subarray(at)]);
        expect(['named', 'refused']).toContain(readClientHello(mixed).kind);
        expect(['waiting', 'open', 'refused']).toContain(stateOf(record(mixed))?.kind);
      }),
      {numRuns: 300},
    );
  });
});

describe('what is sent into a tunnel', () => {
  const data = record(Buffer.alloc(40), 23);

  test('X1 TLS passes, however it is cut into chunks', () => {
    const whole = Buffer.concat([
      record(GOOD.subarray(0, 9)),
      record(GOOD.subarray(9)),
      record(Buffer.from([1]), 20),
      data,
      data,
    ]);
    for (let size = 1; size <= whole.length; size++) {
      const chunks = [];
      for (let at = 0; at < whole.length; at += size) chunks.push(whole.subarray(at, at + size));
      expect(stateOf(...chunks)).toEqual({kind: 'open'});
    }
    expect(stateOf(record(GOOD).subarray(0, 30))).toEqual({kind: 'waiting'});
  });

  test.each([
    ['plain HTTP', [Buffer.from('GET / HTTP/1.1\r\n\r\n')]],
    ['SSH', [Buffer.from('SSH-2.0-x\r\n')]],
    ['another name', [record(clientHello(serverNames('evil.test')))]],
    ['data before the ClientHello', [data]],
    ['an alert before it', [record(Buffer.from([1, 0]), 21)]],
    ['plain text behind the ClientHello', [record(GOOD), Buffer.from('GET / HTTP/1.1\r\n')]],
    ['plain text in the same chunk', [Buffer.concat([record(GOOD), Buffer.from('GET ')])]],
    ['plain text behind data', [record(GOOD), data, Buffer.from('CONNECT evil.test:443')]],
    ['an empty record', [record(Buffer.alloc(0))]],
    ['a record that is too long', [Buffer.from([22, 3, 1, 0xff, 0xff])]],
    ['a hello that is too long', [record(Buffer.from([1, 0xff, 0xff, 0xff, 3, 3]))]],
    ['a hello in crumbs', [Buffer.concat([...GOOD].map(byte => record(Buffer.from([byte]))))]],
    ['a second hello for another', [record(GOOD), record(clientHello(serverNames('evil.test')))]],
    [
      'a second hello behind a change of ciphers',
      [record(GOOD), record(Buffer.from([1]), 20), record(clientHello(serverNames('evil.test')))],
    ],
    ['a second hello in pieces', [record(GOOD), record(GOOD.subarray(0, 4))]],
    ['SSL 2', [Buffer.from([0x80, 0x2e, 1, 3, 1])]],
  ])('X1 %s is refused', (_, chunks) => {
    expect(stateOf(...chunks)).toMatchObject({kind: 'refused'});
  });
});
