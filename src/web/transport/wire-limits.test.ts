import {brotliCompressSync, deflateRawSync, deflateSync, gzipSync} from 'node:zlib';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {authorizeForTest} from '../../../test/support/authorize-for-test.ts';
import {callTransport} from '../../../test/support/call-transport.ts';
import {createCertificateAuthority} from '../../../test/support/certificates.ts';
import {type RawServer, startRawServer} from '../../../test/support/raw-server.ts';
import type {HttpTransport} from '../page.ts';
import {createHttpTransport} from './http-transport.ts';
import {NETWORK_ERRORS} from './network-error.ts';

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
  good(
    'eight informational responses',
    `${'HTTP/1.1 103 x\r\n\r\n'.repeat(8)}${OK}Content-Length: 0\r\n\r\n`,
    '',
  ),
  good('100 Continue', `HTTP/1.1 100 Continue\r\n\r\n${OK}Content-Length: 2\r\n\r\nhi`, 'hi'),
  good('256 fields', `${OK}${'A: b\r\n'.repeat(255)}Content-Length: 2\r\n\r\nhi`, 'hi'),
  good('the same Content-Length twice', `${OK}Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi`, 'hi'),
  good(
    'a body as large as the limit',
    `${OK}Content-Length: 1000\r\n\r\n${'x'.repeat(1000)}`,
    'x'.repeat(1000),
  ),
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

  bad(
    'a flood of informational responses',
    'HTTP/1.1 103 x\r\n\r\n'.repeat(100_000),
    'too_many_informational',
  ),
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
  bad(
    'Transfer-Encoding gzip, chunked',
    `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n`,
    'unsupported_transfer_encoding',
  ),
  bad(
    'Transfer-Encoding identity',
    `${OK}Transfer-Encoding: identity\r\n\r\n`,
    'unsupported_transfer_encoding',
  ),
  bad(
    'Transfer-Encoding xchunked',
    `${OK}Transfer-Encoding: xchunked\r\n\r\n`,
    'unsupported_transfer_encoding',
  ),
  bad(
    'chunked twice',
    `${OK}${'Transfer-Encoding: chunked\r\n'.repeat(2)}\r\n`,
    'unsupported_transfer_encoding',
  ),
  bad(
    'regression: NBSP is no blank before chunked',
    `${OK}Transfer-Encoding: \xa0chunked\r\n\r\n`,
    'unsupported_transfer_encoding',
  ),
  bad(
    'regression: NBSP is no blank after a Content-Length',
    `${OK}Content-Length: 5\xa0\r\n\r\nhello`,
    'invalid_content_length',
  ),
  bad('an empty Transfer-Encoding', `${OK}Transfer-Encoding:\r\n\r\n`, 'unsupported_transfer_encoding'),
  bad(
    'chunked in HTTP/1.0',
    'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
    'unsupported_transfer_encoding',
  ),
  bad('both lengths', `${OK}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n`, 'conflicting_framing'),
  bad(
    'two Content-Lengths',
    `${OK}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`,
    'conflicting_framing',
  ),
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
  bad(
    'many chunk extensions',
    CHUNKED + `1;${'x'.repeat(500)}\r\na\r\n`.repeat(40),
    'chunk_overhead_too_large',
  ),
  bad('endless trailers', `${CHUNKED}0\r\n${'A: b\r\n'.repeat(10_000)}`, 'chunk_overhead_too_large'),
  bad('nothing, then close', '', 'connection_closed', 'close'),
  bad('half a head, then close', 'HTTP/1.1 200 OK\r\nA:', 'connection_closed', 'close'),
  bad('a short Content-Length body', `${OK}Content-Length: 9\r\n\r\nhello`, 'truncated_body', 'close'),
  bad('an unfinished chunked body', `${CHUNKED}5\r\nhello\r\n`, 'truncated_body', 'close'),
  bad('no final CRLF', `${CHUNKED}5\r\nhello\r\n0\r\n`, 'truncated_body', 'close'),
  bad('truncated gzip', coded('gzip', gzipSync(HELLO).subarray(0, -4)), 'broken_content_encoding'),
  bad(
    'gzip with a wrong checksum',
    coded('gzip', Buffer.concat([gzipSync(HELLO).subarray(0, -8), Buffer.alloc(8)])),
    'broken_content_encoding',
  ),
  bad('truncated brotli', coded('br', brotliCompressSync(HELLO).subarray(0, -1)), 'broken_content_encoding'),
  bad('text called deflate', coded('deflate', Buffer.from('plain text')), 'broken_content_encoding'),
  bad(
    'garbage after gzip',
    coded('gzip', Buffer.concat([gzipSync(HELLO), HELLO])),
    'broken_content_encoding',
  ),
  bad('an unknown coding', coded('zstd', HELLO), 'unsupported_content_encoding'),
  bad(
    'three layers',
    coded('gzip, gzip, gzip', gzipSync(gzipSync(gzipSync(HELLO)))),
    'too_many_content_encodings',
  ),

  large('a Content-Length above the limit', `${OK}Content-Length: 1001\r\n\r\n`, 1001),
  large('endless chunks', CHUNKED + '100\r\n'.concat('x'.repeat(256), '\r\n').repeat(200), 1001),
  large('chunks of one byte', CHUNKED + '1\r\nx\r\n'.repeat(20_000), 1001),
  large('an endless body until close', `${OK}\r\n${'x'.repeat(100_000)}`, 1001),
  large('a gzip bomb', coded('gzip', gzipSync(Buffer.alloc(500_000))), 1001),
  large('a nested bomb', coded('gzip, br', brotliCompressSync(gzipSync(Buffer.alloc(8_000_000)))), 1001),
  large(
    'empty gzip members without end',
    Buffer.concat([EMPTY_GZIP_HEAD, ...Array(60).fill(EMPTY_GZIP_CHUNK)]),
    1001,
  ),
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
