import {gzipSync} from 'node:zlib';
import {describe, expect, test} from 'vitest';
import {CODECS, compressZeros, PAIRS} from './support/encoding-codecs.ts';
import {openEncodingHost, respond} from './support/encoding-host.ts';

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
