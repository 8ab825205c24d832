import {brotliCompressSync, deflateRawSync, deflateSync, gzipSync} from 'node:zlib';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {type ContentCoding, ContentDecoder, contentCodings} from './content-coding.ts';

const ENCODERS: readonly (readonly [string, ContentCoding, (bytes: Uint8Array) => Buffer])[] = [
  ['gzip', 'gzip', bytes => gzipSync(bytes)],
  ['zlib deflate', 'deflate', bytes => deflateSync(bytes)],
  ['raw deflate', 'deflate', bytes => deflateRawSync(bytes)],
  ['brotli', 'br', bytes => brotliCompressSync(bytes)],
];
const PAIRS = ENCODERS.flatMap(inner =>
  ENCODERS.map(outer => [`${inner[0]} in ${outer[0]}`, inner, outer] as const),
);
const TEXT = Buffer.from('The quick brown fox jumps over the lazy dog. '.repeat(200));

interface Outcome {
  readonly body: Buffer;
  readonly error: string | undefined;
  readonly exceeded: boolean;
}

async function decode(
  codings: readonly ContentCoding[],
  bytes: Uint8Array,
  {maxBytes = 1_048_576, partBytes = 65_536} = {},
): Promise<Outcome> {
  const decoder = new ContentDecoder(codings, maxBytes);
  const output: Buffer[] = [];
  try {
    for (let at = 0; at < bytes.length && !decoder.exceeded; at += partBytes) {
      const fed = await decoder.feed(Buffer.from(bytes.subarray(at, at + partBytes)));
      if (!fed.ok) return {body: Buffer.concat(output), error: fed.error.error, exceeded: decoder.exceeded};
      output.push(...fed.value);
    }
    if (decoder.exceeded) return {body: Buffer.concat(output), error: undefined, exceeded: true};
    const rest = await decoder.finish();
    if (!rest.ok) return {body: Buffer.concat(output), error: rest.error.error, exceeded: decoder.exceeded};
    output.push(...rest.value);
    return {body: Buffer.concat(output), error: undefined, exceeded: decoder.exceeded};
  } finally {
    decoder.destroy();
  }
}

describe('content codings', () => {
  test.each(ENCODERS)('FR-WF-10c %s is decoded, however it is cut', async (_name, coding, encode) => {
    for (const partBytes of [1, 2, 7, 65_536]) {
      const outcome = await decode([coding], encode(TEXT), {partBytes});
      expect(outcome).toEqual({body: TEXT, error: undefined, exceeded: false});
    }
  });

  test.each(PAIRS)('ruling C2 two layers: %s', async (_name, inner, outer) => {
    const coded = outer[2](inner[2](TEXT));
    const outcome = await decode([outer[1], inner[1]], coded, {partBytes: 11});
    expect(outcome).toEqual({body: TEXT, error: undefined, exceeded: false});
  });

  test.each(ENCODERS)('FR-WF-19 %s cut off at any byte is an error', async (_name, coding, encode) => {
    const coded = encode(Buffer.from('some text that is short'));
    for (let length = 1; length < coded.length; length += 1) {
      const outcome = await decode([coding], coded.subarray(0, length));
      expect([length, outcome.error]).toEqual([length, 'broken_content_encoding']);
    }
  });

  test.each(ENCODERS)(
    'ruling C2 a bomb in %s stops within one chunk of the limit',
    async (_name, coding, encode) => {
      const bomb = encode(Buffer.alloc(4 * 1_048_576));
      for (const maxBytes of [1024, 100_000, 1_048_576]) {
        const outcome = await decode([coding], bomb, {maxBytes});
        expect(outcome.exceeded).toBe(true);
        expect(outcome.body.length).toBeGreaterThan(maxBytes);
        expect(outcome.body.length).toBeLessThanOrEqual(maxBytes + 32_768);
      }
    },
  );

  test.each(PAIRS)('ruling C2 a bomb in %s stops in whichever layer', async (_name, inner, outer) => {
    const bomb = outer[2](inner[2](Buffer.alloc(4 * 1_048_576)));
    const outcome = await decode([outer[1], inner[1]], bomb, {maxBytes: 2048});
    expect(outcome.exceeded).toBe(true);
    expect(outcome.body.length).toBeLessThanOrEqual(2048 + 32_768);
  });

  test('ruling C2 exactly the limit is not too much', async () => {
    const outcome = await decode(['gzip'], gzipSync(Buffer.alloc(5000)), {maxBytes: 5000});
    expect([outcome.body.length, outcome.exceeded]).toEqual([5000, false]);
    expect((await decode(['gzip'], gzipSync(Buffer.alloc(5001)), {maxBytes: 5000})).exceeded).toBe(true);
  });

  test('RFC 1952 §2.2 members of a gzip stream are joined, however they are cut', async () => {
    const members = Buffer.concat([gzipSync('one '), gzipSync('two '), gzipSync('three')]);
    for (const partBytes of [1, 5, 24, 1000]) {
      expect((await decode(['gzip'], members, {partBytes})).body.toString()).toBe('one two three');
    }
  });

  test('policy: zeros after gzip and bytes after zlib or brotli are ignored; other bytes after gzip are not', async () => {
    const text = Buffer.from('text');
    for (const partBytes of [3, 1000]) {
      const zeros = await decode(['gzip'], Buffer.concat([gzipSync(text), Buffer.alloc(9)]), {partBytes});
      expect(zeros.body).toEqual(text);
      for (const [coding, coded] of [
        ['deflate', deflateSync(text)],
        ['br', brotliCompressSync(text)],
      ] as const) {
        const outcome = await decode([coding], Buffer.concat([coded, Buffer.from('trailing')]), {partBytes});
        expect([coding, outcome.body, outcome.error]).toEqual([coding, text, undefined]);
      }
      const garbage = await decode(['gzip'], Buffer.concat([gzipSync(text), Buffer.from('abc')]), {
        partBytes,
      });
      expect(garbage.error).toBe('broken_content_encoding');
    }
  });

  test('policy: an empty body is empty whatever its coding', async () => {
    for (const coding of ['gzip', 'deflate', 'br'] as const) {
      expect(await decode([coding, coding], Buffer.alloc(0))).toEqual({
        body: Buffer.alloc(0),
        error: undefined,
        exceeded: false,
      });
    }
  });

  test('FR-WF-19 random bytes never decode to a hang or a throw', async () => {
    const codings = fc.array(fc.constantFrom<ContentCoding>('gzip', 'deflate', 'br'), {
      minLength: 1,
      maxLength: 2,
    });
    await fc.assert(
      fc.asyncProperty(codings, fc.uint8Array({minLength: 1, maxLength: 200}), async (list, bytes) => {
        await decode(list, bytes, {partBytes: 50});
      }),
      {numRuns: 60},
    );
  });

  test.each([
    [['gzip'], ['gzip']],
    [['X-GZIP'], ['gzip']],
    [['identity'], []],
    [['', ' , '], []],
    [['deflate, br'], ['br', 'deflate']],
    [
      ['deflate', 'identity, br'],
      ['br', 'deflate'],
    ],
  ])('RFC 9110 §8.4 Content-Encoding %j is undone as %j', (values, codings) => {
    expect(contentCodings(new Map([['content-encoding', values]]))).toEqual({ok: true, value: codings});
  });

  test.each([
    [['zstd'], 'unsupported_content_encoding'],
    [['gzip, compress'], 'unsupported_content_encoding'],
    [['gzip;q=1'], 'unsupported_content_encoding'],
    [['gzip, gzip', 'gzip'], 'too_many_content_encodings'],
  ])('ruling C2 Content-Encoding %j is %s', (values, error) => {
    expect(contentCodings(new Map([['content-encoding', values]]))).toEqual({ok: false, error});
  });
});
