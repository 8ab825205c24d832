import {brotliCompressSync, deflateRawSync, deflateSync, gzipSync} from 'node:zlib';
import {byteByByte, close, drip, flood, reset, type WireScript, wait} from './wire-scripts.ts';

/** Where the hostile answer is met: as the page, as a redirect on the way to one, or as robots.txt. */
export const PLACES = ['document', 'redirect', 'robots'] as const;
export type Place = (typeof PLACES)[number];

/** The good answer that a behaviour spoils; what it says depends on the place. */
export interface Message {
  readonly status: string;
  /** Header lines, each with its CRLF. */
  readonly fields: string;
  readonly body: string;
}

export const MESSAGES: Readonly<Record<Place, Message>> = {
  document: {status: '200 OK', fields: 'Content-Type: text/plain\r\n', body: 'The document.'},
  redirect: {status: '302 Found', fields: 'Location: /next\r\n', body: 'Moved.'},
  robots: {
    status: '200 OK',
    fields: 'Content-Type: text/plain\r\n',
    body: 'User-agent: *\nDisallow: /\n',
  },
};

export interface Behaviour {
  readonly name: string;
  readonly script: (message: Message) => WireScript;
  /** `connect`: before a byte was read, and before TLS. */
  readonly stage?: 'connect';
  /** `ok: TEXT` or `code/detail`; several where the machine may tell it in either way. */
  readonly expected: Readonly<Record<Place, string | readonly string[]>>;
  /** The answer was complete: its connection may rest in the pool. */
  readonly whole?: true;
  /** Held until the deadline, which is soon for these. */
  readonly slow?: true;
}

export const MAX_BYTES = 2048;
export const DOCUMENT = 'ok: The document.';
export const FOLLOWED = 'ok: The next page.';
/** The rules were read, and obeyed. */
const RULED = 'robots_disallowed/';

type Bytes = (message: Message) => string | Buffer;
type Send = (bytes: string | Buffer) => WireScript;
type More = Partial<Pick<Behaviour, 'whole' | 'stage'>>;

const line = ({status, fields}: Message): string => `HTTP/1.1 ${status}\r\n${fields}`;
const sized = (message: Message): string =>
  `${line(message)}Content-Length: ${message.body.length}\r\n\r\n${message.body}`;
const chunkedHead = (message: Message): string => `${line(message)}Transfer-Encoding: chunked\r\n\r\n`;
const chunk = (data: string): string => `${data.length.toString(16)}\r\n${data}\r\n`;
const untilClose = (message: Message): string => `${line(message)}\r\n`;

function coded(coding: string, encode: (body: Buffer) => Buffer): Bytes {
  return message => {
    const body = encode(Buffer.from(message.body));
    const head = `${line(message)}Content-Encoding: ${coding}\r\nContent-Length: ${body.length}\r\n\r\n`;
    return Buffer.concat([Buffer.from(head), body]);
  };
}

/** Understood: nothing hostile came through, and nothing good was lost. */
function fine(name: string, bytes: Bytes, send: Send = wait, more: More = {whole: true}): Behaviour {
  const expected = {document: DOCUMENT, redirect: FOLLOWED, robots: RULED};
  return {name, script: message => send(bytes(message)), expected, ...more};
}

/** The head is refused, whatever it would have been the head of. */
function head(name: string, bytes: Bytes, error: string, send: Send = wait): Behaviour {
  return headScript(name, message => send(bytes(message)), [error]);
}

function headScript(
  name: string,
  script: Behaviour['script'],
  errors: readonly string[],
  more: More = {},
): Behaviour {
  const document = errors.map(error => `network/${error}`);
  const robots = errors.map(error => `robots_unavailable/${error}`);
  return {name, script, expected: {document, redirect: document, robots}, ...more};
}

/** The body is refused. That of a redirect is nobody's concern: it is dropped with its connection. */
function body(name: string, bytes: Bytes, error: string, send: Send = wait, more: More = {}): Behaviour {
  const expected = {
    document: `network/${error}`,
    redirect: FOLLOWED,
    robots: `robots_unavailable/${error}`,
  };
  return {name, script: message => send(bytes(message)), expected, ...more};
}

/** More than anybody wants: no document, but the beginning of a robots.txt serves. */
function large(name: string, script: Behaviour['script'], more: More = {}): Behaviour {
  const expected = {document: 'response_too_large/', redirect: FOLLOWED, robots: RULED};
  return {name, script, expected, ...more};
}

/** No head comes before the deadline. */
function slowHead(name: string, script: Behaviour['script'], more: More = {}): Behaviour {
  const expected = {
    document: 'timeout/headers',
    redirect: 'timeout/headers',
    robots: 'robots_unavailable/timeout',
  };
  return {name, script, expected, slow: true, ...more};
}

/** The head comes, the body does not end. */
function slowBody(name: string, script: Behaviour['script']): Behaviour {
  const expected = {
    document: 'timeout/body',
    redirect: FOLLOWED,
    robots: 'robots_unavailable/timeout',
  };
  return {name, script, expected, slow: true};
}

/** The status itself decides; the place makes no difference to the first two. */
function status(name: string, statusLine: string, page: string, robots: string): Behaviour {
  const bytes = `HTTP/1.1 ${statusLine}\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n`;
  return {name, script: () => wait(bytes), expected: {document: page, redirect: page, robots}, whole: true};
}

const EXTRA = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 8\r\n\r\nPoisoned';
const ZEROS = (bytes: number) => (text: Buffer) => Buffer.concat([text, Buffer.alloc(bytes)]);
const emptyGzip = Buffer.concat([Buffer.from('14\r\n'), gzipSync(''), Buffer.from('\r\n')]);
const onceMore = (count: number): string => 'A: b\r\n'.repeat(count);

// biome-ignore format: a case is a line
const WELL_FORMED: readonly Behaviour[] = [
  fine('a body of declared length', sized),
  fine('a chunked body', m => `${chunkedHead(m)}${chunk(m.body)}0\r\n\r\n`),
  fine('chunk extensions and trailers', m => `${chunkedHead(m)}${chunk(m.body)}0;x="y"\r\nT: u\r\n\r\n`),
  fine('chunks of one byte', m => `${chunkedHead(m)}${[...m.body].map(chunk).join('')}0\r\n\r\n`),
  fine('a response byte by byte', m => sized(m), byteByByte),
  fine('a body until close', m => untilClose(m) + m.body, close, {}),
  fine('HTTP/1.0', m => `HTTP/1.0 ${m.status}\r\n${m.fields}\r\n${m.body}`, close, {}),
  fine('no reason phrase', m => sized(m).replace(/ (OK|Found)\r/, '\r')),
  fine('bytes above ASCII in a value', m => sized(m).replace('\r\n', '\r\nX: \xe9\xff\r\n')),
  fine('eight informational responses', m => 'HTTP/1.1 103 Hint\r\nLink: x\r\n\r\n'.repeat(8) + sized(m)),
  fine('the same Content-Length twice', m => sized(m).replace('\r\n', `\r\nContent-Length: ${m.body.length}\r\n`)),
  fine('a list of equal Content-Lengths', m => sized(m).replace(/(Content-Length: )(\d+)/, '$1$2, $2')),
  fine('254 fields more', m => sized(m).replace('\r\n', `\r\n${onceMore(254)}`)),
  fine('a field of 60 KiB', m => sized(m).replace('\r\n', `\r\nA: ${'x'.repeat(61_440)}\r\n`)),
  fine('Upgrade offered', m => sized(m).replace('\r\n', '\r\nUpgrade: h2c, websocket\r\n')),
  fine('a name that only looks like framing', m => sized(m).replace('\r\n', '\r\nTransfer_Encoding: chunked\r\n')),
  fine('Set-Cookie, Refresh, Link, Alt-Svc and Clear-Site-Data', m => sized(m).replace('\r\n', '\r\nSet-Cookie: a=b\r\nRefresh: 0;url=http://10.0.0.5/\r\nLink: <http://10.0.0.5/>;rel=preload\r\n' + 'Alt-Svc: h3="10.0.0.5:443"\r\nClear-Site-Data: "*"\r\n')),
  fine('gzip', coded('gzip', gzipSync)),
  fine('zlib called deflate', coded('deflate', deflateSync)),
  fine('raw deflate', coded('deflate', deflateRawSync)),
  fine('brotli', coded('br', brotliCompressSync)),
  fine('gzip in brotli', coded('gzip, br', text => brotliCompressSync(gzipSync(text)))),
];

/** What follows a whole answer is dropped with its connection, and never taken for the next one. */
const POISONED: readonly Behaviour[] = [
  fine('the next response behind the body', m => sized(m) + EXTRA),
  fine('the next response behind the last chunk', m => `${chunkedHead(m)}${chunk(m.body)}0\r\n\r\n${EXTRA}`),
  fine('a thousand responses at once', m => sized(m) + EXTRA.repeat(1000)),
];

/** Over TLS a reset may be seen as a close, on a busy machine. */
const RESET = ['connection_reset', 'connection_closed'];

const EARLY_ENDS: readonly Behaviour[] = [
  headScript('a FIN instead of a greeting', () => close(''), ['connection_closed', 'connection_reset'], {
    stage: 'connect',
  }),
  headScript('a RST instead of a greeting', () => reset(''), ['connection_reset'], {stage: 'connect'}),
  head('nothing, then close', () => '', 'connection_closed', close),
  headScript('nothing, then reset', () => reset(''), RESET),
  head('half a status line, then close', () => 'HTTP/1.1 20', 'connection_closed', close),
  headScript('half a status line, then reset', () => reset('HTTP/1.1 20'), RESET),
  head('half a head, then close', m => `${line(m)}Content-Le`, 'connection_closed', close),
  headScript('half a head, then reset', m => reset(`${line(m)}Content-Le`), RESET),
  head('an informational response, then close', () => 'HTTP/1.1 100 x\r\n\r\n', 'connection_closed', close),
  body('half a body of declared length, then close', m => sized(m).slice(0, -3), 'truncated_body', close),
  body('half a body of declared length, then reset', m => sized(m).slice(0, -3), 'connection_reset', reset),
  body('a body until close, then reset', m => untilClose(m) + m.body, 'connection_reset', reset),
  body('chunks without an end, then close', m => chunkedHead(m) + chunk(m.body), 'truncated_body', close),
  body('chunks without an end, then reset', m => chunkedHead(m) + chunk(m.body), 'connection_reset', reset),
  body('a chunk cut in the middle', m => `${chunkedHead(m)}ff\r\n${m.body}`, 'truncated_body', close),
  body('no final CRLF', m => `${chunkedHead(m)}${chunk(m.body)}0\r\n`, 'truncated_body', close),
  body('half a trailer', m => `${chunkedHead(m)}${chunk(m.body)}0\r\nA: b`, 'truncated_body', close),
];

const STATUS_LINES: readonly Behaviour[] = [
  ...(
    [
      ['HTTP/0.9', '<html><p>hello</html>'],
      ['the preface of an HTTP/2 server', Buffer.from('00001204000000000000030000006400040000ffff', 'hex')],
      ['an HTTP/2 status line', 'HTTP/2 200\r\n\r\n'],
      ['HTTP/1.2', 'HTTP/1.2 200 OK\r\nContent-Length: 0\r\n\r\n'],
      ['http in lower case', 'http/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'],
      ['a mail server', '220 mail.example ESMTP\r\n'],
      ['an SSH server', 'SSH-2.0-OpenSSH_9.2\r\n'],
      ['a TLS alert', Buffer.from('15030300020228', 'hex')],
      ['an empty line first', '\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'],
      ['a BOM first', '\xef\xbb\xbfHTTP/1.1 200 OK\r\n\r\n'],
      ['no blank before the status', 'HTTP/1.1200 OK\r\n\r\n'],
      ['two blanks before the status', 'HTTP/1.1  200 OK\r\n\r\n'],
      ['a TAB before the status', 'HTTP/1.1\t200 OK\r\n\r\n'],
      ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
      ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
      ['a status with a sign', 'HTTP/1.1 +200 OK\r\n\r\n'],
      ['a status in hexadecimal', 'HTTP/1.1 0xc OK\r\n\r\n'],
      ['status 099', 'HTTP/1.1 099 x\r\n\r\n'],
      ['status 600', 'HTTP/1.1 600 x\r\n\r\n'],
      ['a terminal escape in the reason', 'HTTP/1.1 200 \x1b]0;x\x07\r\n\r\n'],
      ['a NUL in the status line', 'HTTP/1.1 200 O\0K\r\n\r\n'],
    ] as const
  ).map(([name, bytes]) => head(name, () => bytes, 'malformed_status_line')),
  headScript('NULs without end', () => flood('', Buffer.alloc(65_536)), ['malformed_status_line']),
  headScript('empty lines without end', () => flood('', '\r\n'), ['malformed_status_line']),
  headScript('a reason without end', () => flood('HTTP/1.1 200 ', 'x'), ['header_block_too_large']),
  status('206', '206 Partial Content', 'network/unexpected_status', 'ok: The document.'),
  status('304', '304 Not Modified', 'network/unexpected_status', 'robots_unavailable/unexpected_status'),
  status('300', '300 Multiple Choices', 'network/unexpected_status', 'robots_unavailable/unexpected_status'),
  status(
    'a redirect to nowhere',
    '302 Found',
    'network/missing_location',
    'robots_unavailable/missing_location',
  ),
  status('418', "418 I'm a teapot", 'http_4xx/418', 'ok: The document.'),
  status('599', '599 x', 'http_5xx/599', 'robots_unavailable/http_5xx'),
];

// biome-ignore format: a case is a line
const HEADERS: readonly Behaviour[] = [
  ...(
    [
      ['bare LF', 'A: b\n'],
      ['a bare CR in a value', 'A: b\rTransfer-Encoding: chunked\r\n'],
      ['LF before CR', 'A: b\n\r'],
      ['a NUL in a value', 'A: b\0c\r\n'],
      ['a NUL in a name', 'A\0: b\r\n'],
      ['a DEL in a value', 'A: \x7f\r\n'],
      ['a terminal escape in a value', 'A: \x1b[2J\r\n'],
      ['a blank before the colon', 'Content-Length : 5\r\n'],
      ['a name with blanks', 'Content Length: 5\r\n'],
      ['a name above ASCII', 'Content-L\xe9ngth: 5\r\n'],
      ['an empty name', ': b\r\n'],
      ['a line without colon', 'nonsense\r\n'],
      ['a second status line', 'HTTP/1.1 200 OK\r\n'],
    ] as const
  ).map(([name, fields]) => head(name, m => `${line(m)}${fields}\r\n`, 'malformed_header')),
  head('a folded value', m => `${line(m)}A: b\r\n c\r\n\r\n`, 'obsolete_line_folding'),
  head('a value folded by TAB', m => `${line(m)}A: b\r\n\tc\r\n\r\n`, 'obsolete_line_folding'),
  head('Content-Length in a folded line', m => `${line(m)}A:\r\n Content-Length: 5\r\n\r\n`, 'obsolete_line_folding'),
  head('a blank behind the status line', m => `HTTP/1.1 ${m.status}\r\n A: b\r\n\r\n`, 'obsolete_line_folding'),
  head('257 fields', m => `${line(m)}${onceMore(256)}\r\n`, 'too_many_header_fields'),
  head('ten thousand fields', m => `${line(m)}${onceMore(10_000)}\r\n`, 'too_many_header_fields'),
  head('a head of 64 KiB', m => `${line(m)}A: ${'x'.repeat(65_536)}\r\n\r\n`, 'header_block_too_large'),
  headScript('header lines without end', m => flood(line(m), 'A: b\r\n'), ['header_block_too_large']),
  headScript('a value without end', m => flood(`${line(m)}A: `, 'x'), ['header_block_too_large']),
  headScript('a name without end', m => flood(line(m), 'x'), ['header_block_too_large']),
];

// biome-ignore format: a case is a line
const INFORMATIONAL: readonly Behaviour[] = [
  headScript('informational responses without end', () => flood('', 'HTTP/1.1 103 x\r\n\r\n'), ['too_many_informational']),
  head('nine of them, then the answer', m => 'HTTP/1.1 100 x\r\n\r\n'.repeat(9) + sized(m), 'too_many_informational'),
  head('101', () => 'HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n', 'unexpected_upgrade'),
  head('101 to HTTP/2', () => 'HTTP/1.1 101 x\r\nUpgrade: h2c\r\n\r\n', 'unexpected_upgrade'),
  head('100 with a body', () => 'HTTP/1.1 100 x\r\nContent-Length: 5\r\n\r\nhello', 'malformed_status_line'),
  head('100 with a malformed field', () => 'HTTP/1.1 100 x\r\nA b\r\n\r\n', 'malformed_header'),
  head('100 in chunks of gzip', () => 'HTTP/1.1 100 x\r\nTransfer-Encoding: gzip\r\n\r\n', 'unsupported_transfer_encoding'),
];

/** RFC 9112 §11.1, §11.2: what two parsers read differently. */
const SMUGGLED: readonly Behaviour[] = [
  ...(
    [
      ['both lengths', 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', 'conflicting_framing'],
      ['both lengths, turned', 'Transfer-Encoding: chunked\r\nContent-Length: 5\r\n', 'conflicting_framing'],
      ['two Content-Lengths', 'Content-Length: 5\r\nContent-Length: 6\r\n', 'conflicting_framing'],
      ['a list of Content-Lengths', 'Content-Length: 5, 6\r\n', 'conflicting_framing'],
      ['Content-Length +5', 'Content-Length: +5\r\n', 'invalid_content_length'],
      ['Content-Length -1', 'Content-Length: -1\r\n', 'invalid_content_length'],
      ['Content-Length 0x5', 'Content-Length: 0x5\r\n', 'invalid_content_length'],
      ['Content-Length 5.0', 'Content-Length: 5.0\r\n', 'invalid_content_length'],
      ['Content-Length 1e1', 'Content-Length: 1e1\r\n', 'invalid_content_length'],
      ['Content-Length 5 5', 'Content-Length: 5 5\r\n', 'invalid_content_length'],
      ['Content-Length in other digits', 'Content-Length: \xd9\xa5\r\n', 'invalid_content_length'],
      ['an empty Content-Length', 'Content-Length:\r\n', 'invalid_content_length'],
      ['an empty member', 'Content-Length: 5,\r\n', 'invalid_content_length'],
      ['a Content-Length above 2^64', 'Content-Length: 18446744073709551621\r\n', 'invalid_content_length'],
      ['gzip, chunked', 'Transfer-Encoding: gzip, chunked\r\n', 'unsupported_transfer_encoding'],
      ['chunked, identity', 'Transfer-Encoding: chunked, identity\r\n', 'unsupported_transfer_encoding'],
      ['identity', 'Transfer-Encoding: identity\r\n', 'unsupported_transfer_encoding'],
      ['xchunked', 'Transfer-Encoding: xchunked\r\n', 'unsupported_transfer_encoding'],
      ['chunked;q=1', 'Transfer-Encoding: chunked;q=1\r\n', 'unsupported_transfer_encoding'],
      ['"chunked"', 'Transfer-Encoding: "chunked"\r\n', 'unsupported_transfer_encoding'],
      ['chunked behind NBSP', 'Transfer-Encoding: \xa0chunked\r\n', 'unsupported_transfer_encoding'],
      [
        'chunked twice',
        'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n',
        'unsupported_transfer_encoding',
      ],
      ['an empty Transfer-Encoding', 'Transfer-Encoding:\r\n', 'unsupported_transfer_encoding'],
      ['chunked behind a vertical TAB', 'Transfer-Encoding: \x0bchunked\r\n', 'malformed_header'],
    ] as const
  ).map(([name, fields, error]) => head(name, m => `${line(m)}${fields}\r\n0\r\n\r\n`, error)),
  head(
    'chunked in HTTP/1.0',
    m => `HTTP/1.0 ${m.status}\r\n${m.fields}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    'unsupported_transfer_encoding',
  ),
];

// biome-ignore format: a case is a line
const CHUNKS: readonly Behaviour[] = [
  ...(
    [
      ['a chunk size that is no number', 'zz\r\n'],
      ['an empty chunk size', '\r\n'],
      ['a negative chunk size', '-1\r\n'],
      ['a chunk size with 0x', '0x5\r\nhello\r\n'],
      ['a chunk size above 2^64', '10000000000000005\r\n'],
      ['a chunk size of many zeros', `${'0'.repeat(40)}5\r\n`],
      ['a blank before the chunk size', ' 5\r\nhello\r\n'],
      ['a chunk longer than its size', '3\r\nhello\r\n0\r\n\r\n'],
      ['a chunk shorter than its size', '6\r\nhello\r\n0\r\n\r\n'],
      ['LF behind a chunk size', '5\nhello\n0\n\n'],
      ['LF behind a chunk', '5\r\nhello\n0\r\n\r\n'],
      ['LF in an extension', '5;a\nhello\r\n0\r\n\r\n'],
      ['CR in an extension', '5;a\rb\r\nhello\r\n0\r\n\r\n'],
      ['LF in a trailer', '0\r\nA: b\n\r\n'],
      ['LF instead of the last CRLF', '0\r\n\n'],
    ] as const
  ).map(([name, chunks]) => body(name, m => chunkedHead(m) + chunks, 'malformed_chunk')),
  body('an extension of 20,000 bytes', m => `${chunkedHead(m)}1;${'x'.repeat(20_000)}`, 'chunk_overhead_too_large'),
  body('500 bytes of extension to every byte', m => chunkedHead(m) + `1;${'x'.repeat(500)}\r\na\r\n`.repeat(40), 'chunk_overhead_too_large'),
  overhead('an extension without end', m => flood(`${chunkedHead(m)}1;`, 'x')),
  overhead('trailers without end', m => flood(`${chunkedHead(m)}${chunk(m.body)}0\r\n`, 'A: b\r\n')),
];

function overhead(name: string, script: Behaviour['script']): Behaviour {
  return {...body(name, () => '', 'chunk_overhead_too_large'), script};
}

// biome-ignore format: a case is a line
const CODINGS: readonly Behaviour[] = [
  ...(
    [
      ['gzip cut short', 'gzip', text => gzipSync(text).subarray(0, -4)],
      ['gzip with a wrong checksum', 'gzip', text => flip(gzipSync(text), -8)],
      ['gzip with a wrong length', 'gzip', text => flip(gzipSync(text), -1)],
      ['gzip with a damaged block', 'gzip', text => flip(gzipSync(text), 10)],
      ['gzip of an unknown method', 'gzip', text => flip(gzipSync(text), 2)],
      ['garbage behind gzip', 'gzip', text => Buffer.concat([gzipSync(text), Buffer.from('garbage')])],
      ['text called gzip', 'gzip', text => text],
      ['zlib cut short', 'deflate', text => deflateSync(text).subarray(0, -2)],
      ['zlib with a wrong checksum', 'deflate', text => flip(deflateSync(text), -1)],
      ['zlib with a dictionary', 'deflate', text => deflateSync(text, {dictionary: Buffer.from('document')})],
      ['text called deflate', 'deflate', text => text],
      ['brotli cut short', 'br', text => brotliCompressSync(text).subarray(0, -1)],
      ['text called br', 'br', text => text],
      ['one layer called two', 'gzip, gzip', text => gzipSync(text)],
    ] as const satisfies readonly (readonly [string, string, (text: Buffer) => Buffer])[]
  ).map(([name, coding, encode]) =>
    body(name, coded(coding, encode), 'broken_content_encoding', wait, {whole: true}),
  ),
  body('an unknown coding', coded('zstd', text => text), 'unsupported_content_encoding', wait, {whole: true}),
  body('three layers', coded('gzip, gzip, gzip', text => gzipSync(gzipSync(gzipSync(text)))), 'too_many_content_encodings', wait, {whole: true}),
  large('a gzip bomb', bomb('gzip', gzipSync), {whole: true}),
  large('a zlib bomb', bomb('deflate', deflateSync), {whole: true}),
  large('a raw deflate bomb', bomb('deflate', deflateRawSync), {whole: true}),
  large('a brotli bomb', bomb('br', brotliCompressSync), {whole: true}),
  large('a gzip bomb in gzip', bomb('gzip, gzip', text => gzipSync(gzipSync(text))), {whole: true}),
  large('a gzip bomb in brotli', bomb('gzip, br', text => brotliCompressSync(gzipSync(text))), {whole: true}),
  large('a brotli bomb in gzip', bomb('br, gzip', text => gzipSync(brotliCompressSync(text))), {whole: true}),
  emptyMembers('empty gzip members without end', m => {
    const start = Buffer.concat([
      Buffer.from(`${line(m)}Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n`),
      Buffer.from(`${gzipSync(m.body).length.toString(16)}\r\n`),
      gzipSync(m.body),
      Buffer.from('\r\n'),
    ]);
    return flood(start, emptyGzip);
  }),
];

/** Nothing comes out, so there is no beginning of a robots.txt that is known to be one. */
function emptyMembers(name: string, script: Behaviour['script']): Behaviour {
  const {expected, ...rest} = large(name, script);
  return {...rest, expected: {...expected, robots: 'robots_unavailable/response_too_large'}};
}

/** A mebibyte, from a few bytes. */
function bomb(coding: string, encode: (text: Buffer) => Buffer): Behaviour['script'] {
  const bytes = coded(coding, text => encode(ZEROS(1_048_576)(text)));
  const made = new Map<string, string | Buffer>();
  return message => {
    const ready = made.get(message.body) ?? bytes(message);
    made.set(message.body, ready);
    return wait(ready);
  };
}

function flip(bytes: Buffer, at: number): Buffer {
  const index = at < 0 ? bytes.length + at : at;
  bytes.writeUInt8(bytes.readUInt8(index) ^ 0xff, index);
  return bytes;
}

const FLOODS: readonly Behaviour[] = [
  large('a body until close without end', m => flood(untilClose(m) + m.body, 'x\n')),
  large('chunks without end', m => flood(chunkedHead(m) + chunk(m.body), chunk('x\n'.repeat(500)))),
  large('chunks of one byte without end', m => flood(chunkedHead(m) + chunk(m.body), '1\r\n\n\r\n')),
  large('a declared length without end', m =>
    flood(`${line(m)}Content-Length: 999999999999999\r\n\r\n${m.body}`, 'x\n'),
  ),
  large('one chunk without end', m => flood(`${chunkedHead(m)}ffffffffff\r\n${m.body}`, 'x\n')),
];

// biome-ignore format: a case is a line
const SLOW: readonly Behaviour[] = [
  slowHead('silence', () => wait('')),
  slowHead('half a head, then silence', m => wait(line(m))),
  slowHead('a head byte by byte', m => drip(`${line(m)}A: `, 'x')),
  slowHead('a header line now and then', m => drip(line(m), 'A: b\r\n')),
  slowHead('an informational response, then silence', () => wait('HTTP/1.1 102 x\r\n\r\n')),
  slowHead('the status line again and again, byte by byte', () => drip('HTTP/1.1 200 ', 'O')),
  slowBody('half a body of declared length, then silence', m => wait(sized(m).slice(0, -3))),
  slowBody('a declared length and no body', m => wait(`${line(m)}Content-Length: 2000\r\n\r\n`)),
  slowBody('a body byte by byte', m => drip(`${line(m)}Content-Length: 2000\r\n\r\n`, '\n')),
  slowBody('a body until close that never closes', m => wait(untilClose(m) + m.body)),
  slowBody('chunks byte by byte', m => drip(chunkedHead(m) + chunk(m.body), '1\r\n\n\r\n')),
  slowBody('half a chunk size', m => wait(`${chunkedHead(m)}${chunk(m.body)}1`)),
  slowBody('an extension byte by byte', m => drip(`${chunkedHead(m)}1;`, 'x')),
  slowBody('no final CRLF, then silence', m => wait(`${chunkedHead(m)}${chunk(m.body)}0\r\n`)),
  slowBody('trailers now and then', m => drip(`${chunkedHead(m)}${chunk(m.body)}0\r\n`, 'A: b\r\n')),
  slowBody('the beginning of gzip, then silence', m => wait(Buffer.concat([Buffer.from(`${line(m)}Content-Encoding: gzip\r\nContent-Length: 2000\r\n\r\n`), gzipSync(m.body).subarray(0, 15)]))),
  slowBody('empty gzip members now and then', m => drip(`${line(m)}Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n`, emptyGzip)),
];

export const BEHAVIOURS: readonly Behaviour[] = [
  ...WELL_FORMED,
  ...POISONED,
  ...EARLY_ENDS,
  ...STATUS_LINES,
  ...HEADERS,
  ...INFORMATIONAL,
  ...SMUGGLED,
  ...CHUNKS,
  ...CODINGS,
  ...FLOODS,
  ...SLOW,
];
