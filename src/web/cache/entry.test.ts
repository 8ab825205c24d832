import {crc32} from 'node:zlib';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {CACHE_URL, diskCacheFixture} from '../../../test/support/disk-cache-fixture.ts';
import {planChunks} from '../chunk/plan-chunks.ts';
import {EXTRA_MEDIA, type HeaderMap, NOTE_ORDER, TRUNCATION_PRECEDENCE} from '../page.ts';
import {countTokens} from '../tokens/count-tokens.ts';
import {
  type CacheEntry,
  type NewCacheEntry,
  parseEntry,
  printEntry,
  printSharedEntry,
  readSharedEntry,
  readValidators,
  staleDocument,
  textSlices,
  touchEntry,
  validatorsOf,
} from './entry.ts';

const time = fc
  .date({min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true})
  .map(date => date.toISOString());
const text = fc.string({unit: 'binary'});
/** What every entry has beside its page. */
const PLAIN = {
  canonical_url: 'https://x/',
  rendering_method: 'http',
  fetched_at: '2026-01-10T12:00:00Z',
  expires_at: '2026-01-17T12:00:00Z',
  last_accessed_at: '2026-01-10T14:30:00Z',
} as const;

const planOf = (markdown: string) => planChunks(markdown, {maxTokens: 16, countTokens});
const withoutPlan: fc.Arbitrary<CacheEntry> = fc.record(
  {
    canonical_url: fc.oneof(fc.webUrl(), fc.constant('https://x/?"last_accessed_at":"')),
    rendering_method: fc.constantFrom('http' as const, 'browser' as const),
    fetched_at: time,
    expires_at: time,
    last_accessed_at: time,
    origin: fc.constantFrom('fallback' as const, 'forced' as const, 'js_heavy' as const),
    truncation_reason: fc.constantFrom(...TRUNCATION_PRECEDENCE),
    notes: fc.array(fc.constantFrom(...NOTE_ORDER), {maxLength: 3}),
    extracted: fc.record({markdown: text, title: text, language: text}, {requiredKeys: ['markdown']}),
  },
  {
    requiredKeys: [
      'canonical_url',
      'rendering_method',
      'fetched_at',
      'expires_at',
      'last_accessed_at',
      'notes',
      'extracted',
    ],
  },
);

const entries = fc
  .tuple(withoutPlan, fc.boolean())
  .map(
    ([entry, planned]): CacheEntry => (planned ? {...entry, plan: planOf(entry.extracted.markdown)} : entry),
  );

test('FR-WF-16c an entry is read as it was printed', () => {
  fc.assert(
    fc.property(entries, entry => {
      expect(parseEntry(printEntry(entry))).toEqual(entry);
    }),
  );
});

test('FR-WF-16c a long page is printed as JSON prints it', {tags: 'slow'}, () => {
  const lone = `${'x'.repeat(65_535)}\ud83d`;
  const pages = [
    lone,
    `${lone}\ude00`,
    `${lone}x`,
    `${'é"\n'.repeat(50_000)}😀`,
    '😀'.repeat(70_000),
    '\udc00x',
  ];
  for (const markdown of pages) {
    const entry: CacheEntry = {
      ...PLAIN,
      notes: [],
      extracted: {markdown, title: 'T'},
      plan: planOf(markdown),
    };
    const printed = Buffer.from(printEntry(entry)).toString();
    expect(printed === JSON.stringify(JSON.parse(printed))).toBe(true);
    expect(parseEntry(Buffer.from(printed))).toEqual(entry);
  }
});

test('FR-WF-CCH-LRU-01 a new time of access changes that field and nothing else', () => {
  fc.assert(
    fc.property(entries, time, (entry, now) => {
      const touched = touchEntry(Buffer.from(printEntry(entry)), entry, now);
      expect(Buffer.from(touched)).toEqual(printEntry({...entry, last_accessed_at: now}));
    }),
  );
});

test('ruling F4 damaged bytes are read as an entry or as none, and never throw', () => {
  fc.assert(
    fc.property(
      entries,
      fc.nat(),
      fc.uint8Array({maxLength: 4}),
      fc.nat(4),
      (entry, at, inserted, removed) => {
        const whole = [...printEntry(entry)];
        whole.splice(at % whole.length, removed, ...inserted);
        parseEntry(Uint8Array.from(whole));
      },
    ),
  );
  for (const bytes of [
    '',
    'null',
    '1',
    '[]',
    '{"version":2}',
    '['.repeat(100_000),
    '{"a":'.repeat(100_000),
  ]) {
    expect(parseEntry(Buffer.from(bytes))).toBeUndefined();
  }
});

test('ruling F4 bytes that are not UTF-8 are no entry', () => {
  const bytes = Buffer.from(
    JSON.stringify({
      version: 2,
      ...PLAIN,
      extracted: {markdown: 'xxxx'},
    }),
  );
  expect(parseEntry(bytes)).toBeDefined();
  bytes[bytes.indexOf('xxxx')] = 0xff;
  expect(parseEntry(bytes)).toBeUndefined();
});

test('ruling F4 an entry of which one bit was turned round is the same page or none', () => {
  const extracted = {markdown: '# Häuser\n\nEin "Satz" & noch einer.', title: 'Häuser', language: 'de'};
  const plan = planOf(extracted.markdown);
  const bytes = Buffer.from(
    printEntry({
      ...PLAIN,
      notes: ['charset_fallback'],
      extracted,
      plan,
    }),
  );
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const turned = Buffer.from(bytes);
    turned.writeUInt8(turned.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    const entry = parseEntry(turned);
    if (entry?.canonical_url !== 'https://x/') continue;
    expect(entry.extracted).toEqual(extracted);
    if (entry.plan) expect(entry.plan).toEqual(plan);
  }
});

const PLANNED: CacheEntry = {
  ...PLAIN,
  notes: [],
  extracted: {markdown: '# Title\n\ntext'},
  plan: {maxTokens: 128, chunks: [{heading: 'Title', parts: [0, 13], tokens: 4}]},
};

test.each<[string, string, string]>([
  ['another place', '4,0,13', '4,0,12'],
  ['another number', '4,0,13', '5,0,13'],
  ['another heading', '["Title"', '["title"'],
  ['another limit', '"max_chunk_tokens":128', '"max_chunk_tokens":600'],
  ['another chunker', '"chunker":1', '"chunker":0'],
  ['no chunks', '[["Title",4,0,13]]', '[]'],
  ['no checksum', ']],"checksum":', ']],"sum":'],
  ['a list', '"chunk_plan":{', '"chunk_plan":[],"plan":{'],
  ['nothing', '"chunk_plan":{', '"chunk_plan":null,"plan":{'],
])('F4: a wrong plan beside a page is not used, the page is: %s', (_, right, wrong) => {
  const json = Buffer.from(printEntry(PLANNED)).toString();
  expect(parseEntry(Buffer.from(json))).toEqual(PLANNED);
  expect(json).toContain(right);
  const {plan: __, ...page} = PLANNED;
  expect(parseEntry(Buffer.from(json.replace(right, wrong)))).toEqual(page);
});

test.each<[string, object]>([
  ['of an older chunker', {chunker: 0}],
  ['without a limit', {max_chunk_tokens: undefined}],
  ['for a limit of another type', {max_chunk_tokens: '128'}],
  ['without chunks', {chunks: undefined}],
  ['with chunks that are no list', {chunks: {length: 0}}],
  ['with a chunk that is no list', {chunks: ['Title']}],
  ['with a chunk without a heading', {chunks: [[4, 0, 13]]}],
  ['with a chunk without tokens', {chunks: [['Title']]}],
  ['with a part without an end', {chunks: [['Title', 4, 0]]}],
  ['with a place of another type', {chunks: [['Title', 4, 0, '13']]}],
])('F4: a plan %s is not used, whatever its checksum', (_, fields) => {
  const {chunk_plan, ...page} = JSON.parse(Buffer.from(printEntry(PLANNED)).toString());
  const {checksum: __, ...right} = chunk_plan;
  const withPlan = (plan: object) =>
    read({...page, chunk_plan: {...plan, checksum: crc32(JSON.stringify(plan), page.checksum)}});
  expect(withPlan(right)?.plan).toEqual(PLANNED.plan);
  expect(withPlan({...right, ...fields})).toMatchObject({extracted: PLANNED.extracted});
  expect(withPlan({...right, ...fields})?.plan).toBeUndefined();
});

test('FR-WF-CCH-CONTENT-01 a plan of another text is not used', () => {
  const {chunk_plan} = JSON.parse(Buffer.from(printEntry(PLANNED)).toString());
  const other = Buffer.from(printEntry({...PLAIN, notes: [], extracted: {markdown: '# Title\n\nTEXT'}}));
  const entry = parseEntry(Buffer.from(JSON.stringify({...JSON.parse(other.toString()), chunk_plan})));
  expect(entry?.extracted.markdown).toBe('# Title\n\nTEXT');
  expect(entry?.plan).toBeUndefined();
});

const PREFERENCE = {source: 'robots.txt', name: 'Content-Usage', value: 'train-ai=n'} as const;
const read = (fields: object) =>
  parseEntry(Buffer.from(JSON.stringify({version: 2, ...PLAIN, extracted: {markdown: 'text'}, ...fields})));

describe('rulings R1 and R3 what is known of a page is kept with it', () => {
  test.each([
    {validatedAt: '2026-01-12T12:00:00.000Z'},
    ...EXTRA_MEDIA.map(media => ({media})),
    {alternate: 'https://x/feed'},
    {usage: []},
    {usage: [PREFERENCE, {source: 'html', name: 'License', value: 'https://x/rsl.xml'}]},
    {validatedAt: '2026-01-12T12:00:00.000Z', media: 'pdf', alternate: ''},
  ] as const)('rulings R1 and R3 %j is read as it was written', facts => {
    const entry = {...PLAIN, notes: [], extracted: {markdown: 'text'}, facts};
    expect(parseEntry(printEntry(entry))).toEqual(entry);
  });

  test('ruling R1 validators are read as they were written', () => {
    const validators = {etag: '"a"', asked_as: '0123456789abcdef'};
    const entry = {...PLAIN, notes: [], extracted: {markdown: 'text'}, validators};
    expect(parseEntry(printEntry(entry))).toEqual(entry);
  });

  test('FR-WF-16c an entry has no field for what is not known', () => {
    expect(Object.keys(read({}) ?? {})).toEqual([...Object.keys(PLAIN), 'notes', 'extracted']);
    expect(Object.keys(read({})?.extracted ?? {})).toEqual(['markdown']);
    expect(Object.keys(read({media: 'pdf'})?.facts ?? {})).toEqual(['media']);
    expect(Object.keys(read({alternate: 'a'})?.facts ?? {})).toEqual(['alternate']);
    const printed = printEntry({...PLAIN, notes: [], extracted: {markdown: 'text'}});
    expect(JSON.parse(Buffer.from(printed).toString())).toEqual({
      version: 2,
      ...PLAIN,
      checksum: crc32('text', crc32('\0\0')),
      extracted: {markdown: 'text'},
    });
  });

  test.each<[string, object]>([
    ['no address', {canonical_url: undefined}],
    ['an address of another type', {canonical_url: 5}],
    ['no method', {rendering_method: undefined}],
    ['an unknown method', {rendering_method: 'gopher'}],
    ['a kind of document that is none', {media: 'html'}],
    ['a kind of another type', {media: 1}],
    ['an alternate of another type', {alternate: 1}],
    ['preferences that are no list', {usage_preferences: 'n'}],
    ['preferences that are nothing', {usage_preferences: null}],
    ['a preference that is nothing', {usage_preferences: [PREFERENCE, null]}],
    ['a preference that is a text', {usage_preferences: [PREFERENCE, 'n']}],
    ['a preference of an unknown source', {usage_preferences: [{...PREFERENCE, source: 'x'}]}],
    ['a preference of an unknown name', {usage_preferences: [{...PREFERENCE, name: 'x'}]}],
    ['a preference of another type', {usage_preferences: [{...PREFERENCE, value: 1}]}],
    ['a confirmation at no time', {validated_at: 'yesterday'}],
    ['a confirmation of another type', {validated_at: 5}],
    ['validators that are none', {validators: {etag: 'a'}}],
    ['validators of another type', {validators: null}],
    ['a title of another type', {extracted: {markdown: 'text', title: null}}],
    ['a language of another type', {extracted: {markdown: 'text', language: 7}}],
    ['a document that is nothing', {extracted: null}],
    ['a document that is a text', {extracted: 'text'}],
    ['notes that are no list', {notes: 'charset_fallback'}],
    ['text behind a time', {fetched_at: '2026-01-10T12:00:00Z, or so'}],
    ['text before a time', {expires_at: 'at 2026-01-17T12:00:00Z'}],
    ['a time of ten decimals', {expires_at: '2026-01-17T12:00:00.1234567890Z'}],
    ['a time that is a list', {last_accessed_at: ['2026-01-10T14:30:00Z']}],
    ['a wrong checksum', {checksum: 1}],
  ])('ruling F4 an entry with %s is none', (_, fields) => {
    expect(read({})).toBeDefined();
    expect(read(fields)).toBeUndefined();
  });

  test('FR-WF-16c a time may have up to nine decimals', () => {
    expect(read({fetched_at: '2026-01-10T12:00:00.123456789Z'})?.fetched_at).toBe(
      '2026-01-10T12:00:00.123456789Z',
    );
  });
});

test('FR-WF-CCH-LRU-01 a time of another length is printed anew', () => {
  const entry = {...PLAIN, notes: [], extracted: {markdown: 'text'}};
  const now = '2026-01-11T00:00:00.000Z';
  const touched = touchEntry(Buffer.from(printEntry(entry)), entry, now);
  expect(parseEntry(touched)).toEqual({...entry, last_accessed_at: now});
});

test('FR-WF-CCH-LRU-01 a time of the same length is written over the old one, in the bytes that were read', () => {
  const entry = {...PLAIN, notes: [], extracted: {markdown: 'text'}};
  const bytes = Buffer.from(printEntry(entry));
  expect(touchEntry(bytes, entry, '2026-01-11T00:00:00Z')).toBe(bytes);
  expect(parseEntry(bytes)?.last_accessed_at).toBe('2026-01-11T00:00:00Z');
});

describe('rulings R1 and F4 an entry that is looked at again', () => {
  test('ruling R1 is there though it has expired, and looking is no use of it', async () => {
    const {cache, page, clock, stored} = diskCacheFixture();
    expect(await cache.peek(CACHE_URL, 'http')).toBeUndefined();
    await cache.write(page());
    const before = stored();
    clock.advance(30 * 86_400_000);
    expect(await cache.read(CACHE_URL, 'http')).toBeUndefined();
    expect((await cache.peek(CACHE_URL, 'http'))?.extracted.title).toBe('Page');
    expect(await cache.peek(CACHE_URL, 'browser')).toBeUndefined();
    expect(stored()).toEqual(before);
  });

  test('FR-WF-CCH-ENABLE-01 is none where the cache is off', async () => {
    for (const settings of [{directory: ''}, {maxEntries: 0}]) {
      expect(await diskCacheFixture(settings).cache.peek(CACHE_URL, 'http')).toBeUndefined();
    }
  });

  test('ruling R1 expires so many days after it was confirmed', async () => {
    const {cache, page, stored} = diskCacheFixture({ttlDays: 2});
    await cache.write(page(CACHE_URL, {facts: {validatedAt: '2026-02-01T00:00:00.000Z'}}));
    expect(stored()['expires_at']).toBe('2026-02-03T00:00:00.000Z');
  });
});

const AS = '0123456789abcdef';
const DATE = 'Sat, 10 Jan 2026 11:59:00 GMT';
const NOON = Date.parse('2026-01-10T12:00:00Z');

const headers = (fields: Readonly<Record<string, string | readonly string[]>>): HeaderMap =>
  new Map(Object.entries(fields).map(([name, value]) => [name, typeof value === 'string' ? [value] : value]));

describe('RFC 9110 §8.8 what a response can be asked for again with', () => {
  test.each<[string, Readonly<Record<string, string | readonly string[]>>, object | undefined]>([
    ['nothing', {}, undefined],
    ['a tag', {etag: '"a1"'}, {etag: '"a1"'}],
    ['a weak tag', {etag: 'W/"a1"'}, {etag: 'W/"a1"'}],
    ['an empty tag', {etag: '""'}, {etag: '""'}],
    ['a tag before a date', {etag: '"a"', 'last-modified': DATE}, {etag: '"a"'}],
    ['a tag of 512 characters', {etag: `"${'a'.repeat(512)}"`}, {etag: `"${'a'.repeat(512)}"`}],
    ['a longer tag', {etag: `"${'a'.repeat(513)}"`}, undefined],
    ['a tag without quotes', {etag: 'a1'}, undefined],
    ['a tag with text before it', {etag: 'x"a1"'}, undefined],
    ['a tag with text behind it', {etag: '"a1"x'}, undefined],
    ['a tag with a blank', {etag: '"a 1"'}, undefined],
    ['a tag with a quote in it', {etag: '"a"1"'}, undefined],
    ['two tags', {etag: ['"a"', '"b"']}, undefined],
    ['a header without a value', {etag: []}, undefined],
    ['no tag, but a date', {etag: 'none', 'last-modified': DATE}, {last_modified: DATE}],
    ['two dates', {'last-modified': [DATE, DATE]}, undefined],
    ['a date of another form', {'last-modified': '2026-01-10T11:00:00Z'}, undefined],
    ['a date in words', {'last-modified': 'Sat, 10 Jan 2026 11:59:00 CET'}, undefined],
    ['a document that depends on everything', {etag: '"a"', vary: '*'}, undefined],
    ['the same among others', {etag: '"a"', vary: ['accept', 'origin, *']}, undefined],
    ['a document that depends on a header', {etag: '"a"', vary: 'accept'}, {etag: '"a"'}],
  ])('RFC 9110 §8.8 %s', (_, fields, expected) => {
    expect(validatorsOf(headers(fields), NOON, AS)).toEqual(expected && {...expected, asked_as: AS});
  });

  test('RFC 9110 §8.8.2.2 a document has to be a minute old for its date to tell', () => {
    const at = (time: string) =>
      validatorsOf(headers({'last-modified': `Sat, 10 Jan 2026 ${time} GMT`}), NOON, AS);
    expect(at('11:59:00')).toEqual({last_modified: DATE, asked_as: AS});
    expect(at('11:59:01')).toBeUndefined();
    expect(at('13:00:00')).toBeUndefined();
    expect(at('25:00:00')).toBeUndefined();
  });
});

describe('RFC 9110 §13.1 the question, and which 304 answers it', () => {
  test.each<[string, readonly string[] | undefined, boolean]>([
    ['without a tag', undefined, true],
    ['with the same', ['"a1"'], true],
    ['with the same, weak', ['W/"a1"'], true],
    ['with the coding behind it', ['"a1-gzip"'], true],
    ['with another', ['"a2"'], false],
    ['with none', [''], false],
    ['with two', ['"a1"', '"a1"'], false],
    ['with no value', [], false],
    ['with what is no coding', ['"a1-zip"'], false],
  ])('RFC 9110 §8.8.3.2 a tag: a 304 %s', (_, said, confirmed) => {
    const kept = staleDocument({etag: '"a1"', asked_as: AS});
    expect(kept?.conditions).toEqual({'If-None-Match': '"a1"'});
    expect(kept?.matches304(said === undefined ? headers({}) : headers({etag: said}))).toBe(confirmed);
  });

  test.each(['gzip', 'br', 'deflate', 'zstd'])(
    'RFC 9110 §8.8.3.2 the coding %s may be named on either side',
    coding => {
      const coded = `"a1-${coding}"`;
      expect(staleDocument({etag: coded, asked_as: AS})?.matches304(headers({etag: 'W/"a1"'}))).toBe(true);
      expect(staleDocument({etag: '"a1"', asked_as: AS})?.matches304(headers({etag: coded}))).toBe(true);
      const within = `"a1-${coding}"-b"`;
      expect(staleDocument({etag: '"a1"-b"', asked_as: AS})?.matches304(headers({etag: within}))).toBe(false);
    },
  );

  test('RFC 9110 §8.8.3.2 what looks like the sign of a weak tag within one is a part of it', () => {
    const kept = staleDocument({etag: '"W/a"', asked_as: AS});
    expect(kept?.matches304(headers({etag: '"a"'}))).toBe(false);
  });

  test.each<[string, readonly string[] | undefined, boolean]>([
    ['without a date', undefined, true],
    ['with the same', [DATE], true],
    ['with another', ['Sat, 10 Jan 2026 11:58:00 GMT'], false],
    ['with two', [DATE, DATE], false],
    ['with no value', [], false],
  ])('RFC 9110 §13.1.3 a date: a 304 %s', (_, said, confirmed) => {
    const kept = staleDocument({last_modified: DATE, asked_as: AS});
    expect(kept?.conditions).toEqual({'If-Modified-Since': DATE});
    const answer = said === undefined ? headers({}) : headers({'last-modified': said});
    expect(kept?.matches304(answer)).toBe(confirmed);
  });

  test('RFC 9110 §13.1 a document without either is not asked for', () => {
    expect(staleDocument({asked_as: AS})).toBeUndefined();
  });
});

describe('ruling F4 what an entry says becomes a header only if it has the form of one', () => {
  test.each<[unknown, object | undefined]>(
    // biome-ignore format: a case is a line
    [
      [{etag: '"a"', asked_as: AS}, {etag: '"a"', asked_as: AS}],
      [{etag: '"a"', last_modified: DATE, asked_as: AS}, {etag: '"a"', asked_as: AS}],
      [{last_modified: DATE, asked_as: AS}, {last_modified: DATE, asked_as: AS}],
      [{etag: 'a', last_modified: DATE, asked_as: AS}, {last_modified: DATE, asked_as: AS}],
      [{asked_as: AS}, undefined],
      [{etag: '"a"\r\nX: y', asked_as: AS}, undefined],
      [{etag: ['"a"'], asked_as: AS}, undefined],
      [{last_modified: [DATE], asked_as: AS}, undefined],
      [{last_modified: `${DATE}\r\nX: y`, asked_as: AS}, undefined],
      [{last_modified: `x ${DATE}`, asked_as: AS}, undefined],
      [{last_modified: 'S, 10 Jan 2026 11:59:00 GMT', asked_as: AS}, undefined],
      [{last_modified: 'Sat, 1x Jan 2026 11:59:00 GMT', asked_as: AS}, undefined],
      [{last_modified: 'Sat, 10 Jan year 11:59:00 GMT', asked_as: AS}, undefined],
      [{etag: '"a"'}, undefined],
      [{etag: '"a"', asked_as: 1}, undefined],
      [{etag: '"a"', asked_as: [AS]}, undefined],
      [{etag: '"a"', asked_as: AS.slice(1)}, undefined],
      [{etag: '"a"', asked_as: `x${AS}`}, undefined],
      [{etag: '"a"', asked_as: `${AS}0`}, undefined],
      [{etag: '"a"', asked_as: AS.toUpperCase()}, undefined],
      [null, undefined],
      [undefined, undefined],
      ['"a"', undefined],
      [[], undefined],
    ],
  )('ruling F4 %j', (value, expected) => {
    expect(readValidators(value)).toEqual(expected);
  });
});

const MOST = 65_536;
const PAIR = '\u{1f600}';

test.each<[string, string, readonly number[]]>([
  ['nothing', '', []],
  ['one unit', 'a', [1]],
  ['as much as a slice holds', 'a'.repeat(MOST), [MOST]],
  ['one more', 'a'.repeat(MOST + 1), [MOST, 1]],
  ['two slices and some', 'a'.repeat(2 * MOST + 7), [MOST, MOST, 7]],
  ['a pair before the end of a slice', `${'a'.repeat(MOST - 2)}${PAIR}b`, [MOST, 1]],
  ['a pair across the end of a slice', `${'a'.repeat(MOST - 1)}${PAIR}b`, [MOST - 1, 3]],
  ['a pair behind it', `${'a'.repeat(MOST)}${PAIR}`, [MOST, 2]],
  ['half a pair at the very end', `${'a'.repeat(MOST - 1)}\ud83d`, [MOST]],
  ['the other half at the end of a slice', `${'a'.repeat(MOST - 1)}\ude00b`, [MOST, 1]],
])('FR-WF-16c %s is written slice by slice', (_, text, lengths) => {
  const slices = [...textSlices(text)];
  expect(slices.join('')).toBe(text);
  expect(slices.map(slice => slice.length)).toEqual(lengths);
});

describe('shared entry', () => {
  const DAY_MS = 86_400_000;
  const ADDRESS = 'https://example.com/page';
  const FETCHED = '2026-01-10T12:00:00.000Z';
  const AT = Date.parse(FETCHED);
  const PAGE: NewCacheEntry = {
    canonical_url: ADDRESS,
    rendering_method: 'http',
    fetched_at: FETCHED,
    notes: ['charset_fallback'],
    extracted: {markdown: '# Page', title: 'Page'},
  };

  const read = (now: number, page: NewCacheEntry = PAGE, address = ADDRESS) =>
    readSharedEntry(printSharedEntry(page), {address, ttlDays: 7, now});

  describe('ruling S1 a page that replicas share', () => {
    test('ruling S1 has the form that the disk has, and does not say how long it serves', () => {
      expect(parseEntry(printSharedEntry(PAGE))).toEqual({
        ...PAGE,
        expires_at: FETCHED,
        last_accessed_at: FETCHED,
      });
    });

    test('ruling S1 serves so many days after it was fetched, and was used now', () => {
      expect(read(AT + DAY_MS)).toEqual({
        ...PAGE,
        expires_at: '2026-01-17T12:00:00.000Z',
        last_accessed_at: '2026-01-11T12:00:00.000Z',
      });
      expect(read(AT + 7 * DAY_MS)).toBeDefined();
      expect(read(AT + 7 * DAY_MS + 1)).toBeUndefined();
    });

    test('ruling S1 serves so many days after it was confirmed', () => {
      const confirmed = {...PAGE, facts: {validatedAt: '2026-01-15T12:00:00.000Z'}};
      expect(read(AT + 8 * DAY_MS, confirmed)?.expires_at).toBe('2026-01-22T12:00:00.000Z');
      expect(read(AT + 12 * DAY_MS + 1, confirmed)).toBeUndefined();
    });

    test('ruling S1 is none where it was fetched more than a day from now', () => {
      expect(read(AT - DAY_MS)).toBeDefined();
      expect(read(AT - DAY_MS - 1)).toBeUndefined();
    });

    test('red team G10: brings no validators, and takes none', () => {
      const validators = {etag: '"v1"', asked_as: '0123456789abcdef'};
      expect(read(AT, {...PAGE, validators})).toEqual(read(AT));
      const planted = printEntry({...PAGE, validators, expires_at: FETCHED, last_accessed_at: FETCHED});
      const entry = readSharedEntry(planted, {address: ADDRESS, ttlDays: 7, now: AT});
      expect(entry?.extracted).toEqual(PAGE.extracted);
      expect(entry).not.toHaveProperty('validators');
    });

    test('ruling S1 brings no plan, and takes none: it would say which headings are shown', () => {
      const plan = planOf(PAGE.extracted.markdown);
      expect(read(AT, {...PAGE, plan})).toEqual(read(AT));
      const planted = printEntry({...PAGE, plan, expires_at: FETCHED, last_accessed_at: FETCHED});
      const entry = readSharedEntry(planted, {address: ADDRESS, ttlDays: 7, now: AT});
      expect(parseEntry(planted)?.plan).toEqual(plan);
      expect(entry).not.toHaveProperty('plan');
    });

    test('ruling S1 is none of another address, and none where it is damaged', () => {
      expect(read(AT, PAGE, `${ADDRESS}#pdf`)).toBeUndefined();
      for (const bytes of ['', '{}', 'null']) {
        expect(readSharedEntry(Buffer.from(bytes), {address: ADDRESS, ttlDays: 7, now: AT})).toBeUndefined();
      }
    });
  });
});
