import {describe, expect, test} from 'vitest';
import {parseProxyRequest} from './parse-proxy-request.ts';

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

  test.each([
    ['another Host', 'GET http://deb.test/ HTTP/1.1', 'Host: evil.test'],
    ['two Hosts', 'GET http://deb.test/ HTTP/1.1', 'Host: deb.test', 'Host: deb.test'],
    ['no Host', 'GET http://deb.test/ HTTP/1.1'],
    ['a body by length', 'GET http://deb.test/ HTTP/1.1', 'Host: deb.test', 'Content-Length: 5'],
    [
      'two lengths',
      'GET http://deb.test/ HTTP/1.1',
      'Host: deb.test',
      'Content-Length: 0',
      'Content-Length: 0',
    ],
    ['a body in chunks', 'GET http://deb.test/ HTTP/1.1', 'Host: deb.test', 'Transfer-Encoding: chunked'],
    [
      'chunks in another spelling',
      'GET http://deb.test/ HTTP/1.1',
      'Host: deb.test',
      'transfer-encoding:\tchunked',
    ],
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
  ])('X1 not with %s', (_, ...lines) => {
    expect(get(...lines).ok).toBe(false);
  });
});
