import {gzipSync} from 'node:zlib';
import {describe, expect, test} from 'vitest';
import {CODECS, compressZeros, PAIRS} from './support/encoding-codecs.ts';
import {openEncodingHost, respond} from './support/encoding-host.ts';

/** "あ" in UTF-8; other encodings read other characters out of the same bytes. */
const LETTER = '\xe3\x81\x82';
/** What shows which decoder was used. */
const MARKS = {
  'utf-8': 'あ',
  'windows-1252': 'ã',
  shift_jis: '縺',
} as const;
type Known = keyof typeof MARKS;
/** `utf-16`: none of the marks, and no markup, is found. `replacement`: one U+FFFD is all there is. */
type Decoder = Known | 'utf-16' | 'replacement';

const BOMS: readonly (readonly [string, string, Decoder | undefined])[] = [
  ['no BOM', '', undefined],
  ['a BOM of UTF-8', '\xef\xbb\xbf', 'utf-8'],
  ['a BOM of UTF-16, big end first', '\xfe\xff', 'utf-16'],
  ['a BOM of UTF-16, little end first', '\xff\xfe', 'utf-16'],
];

/** `undefined`: nothing said. `unknown`: said, but nothing that is known. */
const HEADERS: readonly (readonly [string, Decoder | 'unknown' | undefined])[] = [
  ['text/html', undefined],
  ['text/html; charset=', undefined],
  ['text/html; charset=utf-8', 'utf-8'],
  ['text/html; charset=windows-31j', 'shift_jis'],
  ['text/html; charset=iso-8859-1', 'windows-1252'],
  ['text/html; charset=utf-16', 'utf-16'],
  ['text/html; charset=iso-2022-kr', 'replacement'],
  ['text/html; charset=utf-7', 'unknown'],
  ['text/html; charset=klingon', 'unknown'],
];

const METAS: readonly (readonly [string, Decoder | 'unknown' | undefined])[] = [
  ['', undefined],
  ['<meta charset="utf-8">', 'utf-8'],
  ['<meta charset=shift_jis>', 'shift_jis'],
  ['<meta http-equiv=Content-Type content="text/html; charset=latin1">', 'windows-1252'],
  // WHATWG HTML §13.2.3.2: what could be read so far was not UTF-16.
  ['<meta charset=utf-16le>', 'utf-8'],
  ['<meta charset=x-user-defined>', 'windows-1252'],
  ['<meta charset=hz-gb-2312>', 'replacement'],
  ['<meta charset=utf-7>', 'unknown'],
  ['<meta charset=shift_jis><meta charset=utf-8>', 'shift_jis'],
];

/** Ruling C4, read once more: BOM over header over meta, and an unknown header does not ask meta. */
function decoderOf(
  bom: Decoder | undefined,
  header: Decoder | 'unknown' | undefined,
  meta: Decoder | 'unknown' | undefined,
): readonly [decoder: Decoder, note: boolean] {
  if (bom !== undefined) return [bom, false];
  const said = header ?? meta;
  if (said === 'unknown') return ['utf-8', true];
  return [said ?? 'utf-8', said === 'replacement'];
}

const html = (meta: string): string => `<html><head>${meta}</head><body><p>${LETTER}</p></body></html>`;

describe('ruling C4 contradictions', () => {
  test.each(
    BOMS.flatMap(([bomName, bom, ofBom]) =>
      HEADERS.map(([type, ofHeader]) => [bomName, type, bom, ofBom, ofHeader] as const),
    ),
  )('%s, %s, and every meta', async (_bomName, type, bom, ofBom, ofHeader) => {
    const {put, say} = await openEncodingHost();
    for (const [index, [meta, ofMeta]] of METAS.entries()) {
      put(`/${index}`, respond(bom + html(meta), {type}));
      const said = await say(`/${index}`);
      const [decoder, note] = decoderOf(ofBom, ofHeader, ofMeta);
      expect(said.endsWith(' [charset_fallback]'), `${meta}: ${said}`).toBe(note);
      const text = said.replace(/ \[charset_fallback\]$/, '');
      if (decoder === 'replacement') expect(text).toBe('ok: \ufffd');
      else if (decoder === 'utf-16') expect(text).not.toMatch(/^ok: (?:あ|ã|縺|<)/);
      else expect(text.startsWith(`ok: ${MARKS[decoder]}`), `${meta}: ${said}`).toBe(true);
    }
  });
});

describe('FR-WF-CHARSET-01 labels in the header', () => {
  const UNKNOWN = 'ok: あ [charset_fallback]';
  test.each([
    ['charset=UTF-8', 'ok: あ'],
    ['charset="utf-8"', 'ok: あ'],
    ['charset=" utf-8 "', 'ok: あ'],
    ['Charset=uTf8', 'ok: あ'],
    ['charset=unicode-1-1-utf-8', 'ok: あ'],
    ['charset=utf-8; charset=shift_jis', 'ok: あ'],
    ['foo="; charset=shift_jis"; charset=utf-8', 'ok: あ'],
    ['charset="utf-8', 'ok: あ'],
    ['charset="ut\\f-8"', 'ok: あ'],
    ['charset =shift_jis', 'ok: あ'],
    ["charset='utf-8'", UNKNOWN],
    ['charset=utf-8foo', UNKNOWN],
    ['charset=utf_8', UNKNOWN],
    ['charset=utf-7', UNKNOWN],
    ['charset=utf-32', UNKNOWN],
    ['charset=ucs-4', UNKNOWN],
    ['charset=cesu-8', UNKNOWN],
    ['charset=ebcdic-cp-us', UNKNOWN],
    ['charset=none', UNKNOWN],
    ['charset=binary', UNKNOWN],
    ['charset=auto', UNKNOWN],
    ['charset=__proto__', UNKNOWN],
    ['charset=constructor', UNKNOWN],
    ['charset=\xe3', UNKNOWN],
    [`charset=${'x'.repeat(60_000)}`, UNKNOWN],
    [`${'x=y;'.repeat(10_000)}charset=utf-8`, 'ok: あ'],
  ])('%.60s', async (parameter, expected) => {
    const {put, say} = await openEncodingHost();
    put('/', respond(`<p>${LETTER}`, {type: `text/html; ${parameter}`}));
    expect(await say('/')).toBe(expected);
  });

  test.each([
    ['text/html', 'text/html; charset=shift_jis', 'shift_jis'],
    ['text/html; charset=shift_jis', 'text/html', 'shift_jis'],
    ['text/html; charset=shift_jis', 'text/html; charset=utf-8', 'utf-8'],
    ['image/png', 'text/html; charset=shift_jis', 'shift_jis'],
    ['text/html; charset=shift_jis', 'nonsense', 'shift_jis'],
    ['text/html; charset=shift_jis', '*/*', 'shift_jis'],
  ] as const)('Fetch §3.5 %s and then %s in a second line', async (first, second, decoder) => {
    const {put, say} = await openEncodingHost();
    put('/', respond(`<p>${LETTER}`, {type: first, fields: `Content-Type: ${second}\r\n`}));
    expect((await say('/')).startsWith(`ok: ${MARKS[decoder]}`)).toBe(true);
  });

  test('Fetch §3.5 the last of two types decides: what is no document is refused', async () => {
    const {put, say} = await openEncodingHost();
    put('/', respond('x', {type: 'text/html', fields: 'Content-Type: image/png\r\n'}));
    expect(await say('/')).toBe('unsupported_content_type/');
  });
});

/** The encodings whose decoder looks ahead. */
// biome-ignore format: a list
const MULTI_BYTE = [
  'utf-8', 'utf-16be', 'utf-16le', 'gbk', 'gb18030', 'big5', 'euc-jp', 'iso-2022-jp', 'shift_jis', 'euc-kr',
  'replacement',
];
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;

describe('bytes that are no text', () => {
  test.each([
    ['an overlong <', 'utf-8', '\xc0\xbcb>', '\ufffd\ufffdb>'],
    ['an overlong / of three bytes', 'utf-8', '\xe0\x80\xaf', '\ufffd\ufffd\ufffd'],
    ['a surrogate', 'utf-8', '\xed\xa0\xbd\xed\xb8\x80', '\ufffd'.repeat(6)],
    ['beyond U+10FFFF', 'utf-8', '\xf4\x90\x80\x80', '\ufffd'.repeat(4)],
    ['a lead byte before markup', 'utf-8', '\xe3<b>x</b>', '\ufffd<b>x</b>'],
    ['a lead byte at the end', 'utf-8', 'x\xf0\x9f\x98', 'x\ufffd'],
    ['a lead byte before markup', 'shift_jis', '\x82<b>x</b>', '\ufffd<b>x</b>'],
    ['a lead byte before markup', 'big5', '\x81<b>x</b>', '\ufffd<b>x</b>'],
    ['a lead byte before markup', 'euc-kr', '\x81<b>x</b>', '\ufffd<b>x</b>'],
    ['a lead byte before markup', 'euc-jp', '\x8f\xa1<b>x</b>', '\ufffd<b>x</b>'],
    ['a lead byte before markup', 'gbk', '\x81<b>x</b>', '\ufffd<b>x</b>'],
    ['four bytes that break off', 'gb18030', '\x81\x30\x81<b>x</b>', '\ufffd0\ufffd<b>x</b>'],
    ['UTF-7', 'utf-7', '+ADw-b+AD4-', '+ADw-b+AD4- [charset_fallback]'],
    ['HZ', 'hz-gb-2312', '~{<b~}', '\ufffd [charset_fallback]'],
    ['an odd number of bytes', 'utf-16le', 'a\0b\0c', 'ab\ufffd'],
    ['a lone surrogate', 'utf-16be', '\xd8\x00\x00a', '\ufffda'],
  ])('WHATWG Encoding %s in %s', async (_, charset, bytes, text) => {
    const {put, say} = await openEncodingHost();
    put('/', respond(bytes, {type: `text/plain; charset=${charset}`}));
    expect(await say('/')).toBe(`ok: ${text}`);
  });

  test.each(['utf-8', 'iso-2022-jp', 'windows-1252', 'utf-16le', 'x-user-defined', 'gb18030'])(
    'ruling D8 whatever bytes are called %s HTML, no control character comes out',
    async charset => {
      const {put, say} = await openEncodingHost();
      const bytes = Buffer.from(
        Array.from({length: 65_536}, (_, at) => (at % 2 === 0 ? at >> 8 : at) & 0xff),
      );
      put('/', respond(bytes, {type: `text/html; charset=${charset}`}));
      const said = await say('/');
      expect(said.slice(0, 4)).toBe('ok: ');
      expect(CONTROL.exec(said)?.[0]).toBeUndefined();
    },
  );

  test.each(MULTI_BYTE)('policy: every byte pair in %s is read, and is the same twice', async charset => {
    const {put, say} = await openEncodingHost();
    const pairs = Buffer.alloc(131_072);
    for (let pair = 0; pair < 65_536; pair += 1) pairs.writeUInt16BE(pair, pair * 2);
    put('/', respond(pairs, {type: `text/plain; charset=${charset}`}));
    const first = await say('/');
    expect(first.slice(0, 4)).toBe('ok: ');
    expect((await say('/')) === first).toBe(true);
  });
});

const TEXT = 'It was the best of codes, it was the worst of codes, it was the age of layers.';
const MEGABYTE = 1_048_576;

describe('FR-WF-10c what is understood', () => {
  test.each([...CODECS, ...PAIRS])('$name', async ({coding, encode}) => {
    const {put, say} = await openEncodingHost();
    put('/', respond(encode(TEXT), {coding}));
    expect(await say('/')).toBe(`ok: ${TEXT}`);
  });

  test.each([
    ['upper case', 'GZIP'],
    ['x-gzip', 'x-gzip'],
    ['blanks and TABs', ' \tgzip\t '],
    ['identity before', 'identity, gzip'],
    ['identity behind', 'gzip, identity'],
    ['identity around, three times', 'identity, identity, gzip, identity'],
    ['empty members', ', gzip,, ,'],
  ])('%s', async (_, coding) => {
    const {put, say} = await openEncodingHost();
    put('/', respond(gzipSync(TEXT), {coding}));
    expect(await say('/')).toBe(`ok: ${TEXT}`);
  });

  test.each(['', 'identity', 'identity, identity', ',', ' , '])('"%s" is no coding', async coding => {
    const {put, say} = await openEncodingHost();
    put('/', respond(TEXT, {coding}));
    expect(await say('/')).toBe(`ok: ${TEXT}`);
  });

  test('codings in two header lines are one list', async () => {
    const {put, say} = await openEncodingHost();
    const [gzip, , , brotli] = CODECS;
    const body = brotli?.encode(gzip?.encode(TEXT) ?? '') ?? '';
    put('/', respond(body, {coding: 'gzip', fields: 'Content-Encoding: br\r\n'}));
    expect(await say('/')).toBe(`ok: ${TEXT}`);
  });

  test.each(CODECS)('an empty body called $coding is an empty document', async ({coding, encode}) => {
    const {put, say} = await openEncodingHost();
    put('/nothing', respond('', {coding}));
    put('/empty', respond(encode(''), {coding}));
    expect(await say('/nothing')).toBe('ok: ');
    expect(await say('/empty')).toBe('ok: ');
  });

  test('gzip members are one document, and zeros behind them are padding', async () => {
    const {put, say} = await openEncodingHost();
    const members = [...TEXT].map(char => gzipSync(char));
    put('/members', respond(Buffer.concat(members), {coding: 'gzip'}));
    put('/padded', respond(Buffer.concat([gzipSync(TEXT), Buffer.alloc(512)]), {coding: 'gzip'}));
    expect(await say('/members')).toBe(`ok: ${TEXT}`);
    expect(await say('/padded')).toBe(`ok: ${TEXT}`);
  });
});

describe('FR-WF-19 what is refused', () => {
  /** RFC 8878: "hello" in one raw block. */
  const ZSTD = Buffer.from('28b52ffd2005290000', 'hex').subarray(0, 9);

  test.each([
    ['zstd', Buffer.concat([ZSTD, Buffer.from('hello')])],
    ['compress', Buffer.from('1f9d90', 'hex')],
    ['x-compress', TEXT],
    ['bzip2', TEXT],
    ['lzma', TEXT],
    ['dcb', TEXT],
    ['dcz', TEXT],
    ['aws-chunked', TEXT],
    ['chunked', TEXT],
    ['utf-8', TEXT],
    ['none', TEXT],
    ['*', TEXT],
    ['gzip;q=1', gzipSync(TEXT)],
    ['gzip gzip', gzipSync(TEXT)],
    ['"gzip"', gzipSync(TEXT)],
    ['gzip\xa0', gzipSync(TEXT)],
    ['gzip, zstd', TEXT],
    ['zstd, gzip', gzipSync(TEXT)],
  ])('a body called %s', async (coding, body) => {
    const {put, say} = await openEncodingHost();
    put('/', respond(body, {coding}));
    expect(await say('/')).toBe('network/unsupported_content_encoding');
  });

  test.each(PAIRS)('$name in gzip', async ({coding, encode}) => {
    const {put, say} = await openEncodingHost();
    put('/', respond(gzipSync(encode(TEXT)), {coding: `${coding}, gzip`}));
    expect(await say('/')).toBe('network/too_many_content_encodings');
  });

  test.each([
    ...CODECS.flatMap(({name, coding, encode}) =>
      CODECS.filter(other => other.coding !== coding).map(
        other => [`${name} called ${other.coding}`, encode(TEXT), other.coding] as const,
      ),
    ),
    ...PAIRS.filter(({inner, outer}) => inner.coding !== outer.coding).map(
      ({name, encode, inner, outer}) =>
        [`${name}, named in the wrong order`, encode(TEXT), `${outer.coding}, ${inner.coding}`] as const,
    ),
    ...CODECS.map(
      ({name, coding, encode}) => [`${name}, named twice`, encode(TEXT), `${coding}, ${coding}`] as const,
    ),
  ])('%s', async (_, body, coding) => {
    const {put, say} = await openEncodingHost();
    put('/', respond(body, {coding}));
    expect(await say('/')).toBe('network/broken_content_encoding');
  });

  test.each([...CODECS, ...PAIRS])('$name cut anywhere is never delivered', async ({coding, encode}) => {
    const {put, say} = await openEncodingHost();
    const whole = encode(TEXT);
    for (let length = 1; length < whole.length; length += 1) {
      put(`/${length}`, respond(whole.subarray(0, length), {coding}));
      expect(await say(`/${length}`)).toBe('network/broken_content_encoding');
    }
  });

  test.each(CODECS.filter(({name}) => name === 'gzip' || name === 'zlib'))(
    '$name with any byte changed is never another text',
    async ({coding, encode}) => {
      const {put, say} = await openEncodingHost();
      const whole = encode(TEXT);
      for (const [at, byte] of whole.entries()) {
        const changed = Buffer.from(whole);
        changed.writeUInt8(byte ^ 0xff, at);
        put(`/${at}`, respond(changed, {coding}));
        // Time stamp and system are not part of the text; a header that is none makes a raw stream of it.
        expect([`ok: ${TEXT}`, 'network/broken_content_encoding']).toContain(await say(`/${at}`));
      }
    },
  );
});

describe('ruling C2 bombs', () => {
  /** Fifty times the default limit of a document. */
  const MEGABYTES = 256;
  const LIMIT_MB = 5;

  test.each(CODECS)('$name, alone and in every other codec', {timeout: 60_000}, async inner => {
    const bomb = await compressZeros(inner, MEGABYTES);
    const {put, fetch} = await openEncodingHost();
    put('/', respond(bomb, {coding: inner.coding}));
    for (const [index, outer] of CODECS.entries()) {
      put(`/${index}`, respond(outer.encode(bomb), {coding: `${inner.coding}, ${outer.coding}`}));
    }
    const paths = ['/', ...CODECS.keys()].map(path => (path === '/' ? path : `/${path}`));
    // The first one also loads what all of them need.
    await fetch('/');
    const before = process.resourceUsage().maxRSS * 1024;
    for (const path of paths) {
      expect(await fetch(path)).toMatchObject({
        error: {code: 'response_too_large', details: {max_bytes: LIMIT_MB * MEGABYTE}},
      });
    }
    const grown = process.resourceUsage().maxRSS * 1024 - before;
    expect(grown).toBeLessThan(8 * LIMIT_MB * MEGABYTE);
  });

  test('a bomb in robots.txt is read as far as its limit', async () => {
    const rules = Buffer.concat([Buffer.from('User-agent: *\nDisallow: /\n'), Buffer.alloc(64 * MEGABYTE)]);
    const {put, say, logs} = await openEncodingHost();
    put('/robots.txt', respond(gzipSync(rules), {coding: 'gzip'}));
    put('/', respond(TEXT));
    expect(await say('/')).toBe('robots_disallowed/');
    expect(logs).toContainEqual(expect.objectContaining({event: 'robots_truncated'}));
  });

  test('a bomb in the body of a redirect or of an error is not opened', async () => {
    const bomb = gzipSync(Buffer.alloc(8 * MEGABYTE));
    const {put, say} = await openEncodingHost();
    put('/', respond(bomb, {coding: 'gzip', status: '302 Found', fields: 'Location: /next\r\n'}));
    put('/next', respond(TEXT));
    put('/error', respond(bomb, {coding: 'gzip', status: '500 x'}));
    put('/image', respond(bomb, {coding: 'gzip', type: 'image/png'}));
    expect(await say('/')).toBe(`ok: ${TEXT}`);
    expect(await say('/error')).toBe('http_5xx/500');
    expect(await say('/image')).toBe('unsupported_content_type/');
  });
});
