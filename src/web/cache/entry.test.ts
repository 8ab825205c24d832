import fc from 'fast-check';
import {expect, test} from 'vitest';
import {planChunks} from '../chunk/plan-chunks.ts';
import {NOTE_ORDER, TRUNCATION_PRECEDENCE} from '../page.ts';
import {countTokens} from '../tokens/count-tokens.ts';
import {type CacheEntry, parseEntry, printEntry, touchEntry} from './entry.ts';

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

const countsOf = (markdown: string) => planChunks(markdown, {maxTokens: 128, countTokens}).counts;
const withoutCounts: fc.Arbitrary<CacheEntry> = fc.record(
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
  .tuple(withoutCounts, fc.boolean())
  .map(
    ([entry, counted]): CacheEntry =>
      counted ? {...entry, counts: countsOf(entry.extracted.markdown)} : entry,
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
      counts: countsOf(markdown),
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
  const counts = countsOf(extracted.markdown);
  const bytes = Buffer.from(
    printEntry({
      ...PLAIN,
      notes: ['charset_fallback'],
      extracted,
      counts,
    }),
  );
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const turned = Buffer.from(bytes);
    turned.writeUInt8(turned.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    const entry = parseEntry(turned);
    if (entry?.canonical_url !== 'https://x/') continue;
    expect(entry.extracted).toEqual(extracted);
    if (entry.counts) expect(entry.counts).toEqual(counts);
  }
});

test.each([
  ['no list', '12'],
  ['no numbers', '["a", 1, 1, 1]'],
  ['a part of a stretch', '[0, 1, 1]'],
  ['nothing counted', '[0, 0, 1, 1]'],
  ['stretches in another order', '[2, 1, 1, 1, -1, 1, 1, 1]'],
  ['a stretch beyond the text', '[2, 1, 1, 1, 1, 2, 1, 1]'],
  ['fewer tokens than none', '[0, 4, -1, 1]'],
  ['more tokens than bytes', '[0, 4, 99, 1]'],
  ['counts of another text', '[0, 4, 2, 2]'],
])('ruling F4 an entry whose counts are wrong is none: %s', (_, counts) => {
  const entry: CacheEntry = {
    ...PLAIN,
    notes: [],
    extracted: {markdown: 'text'},
    counts: Int32Array.of(0, 4, 1, 0),
  };
  const json = Buffer.from(printEntry(entry)).toString();
  expect(parseEntry(Buffer.from(json))).toEqual(entry);
  expect(parseEntry(Buffer.from(json.replace('[0,4,1,0]', counts)))).toBeUndefined();
});

test('an entry without a checksum is an entry, but its counts are not believed', () => {
  const entry = {
    version: 2,
    ...PLAIN,
    extracted: {markdown: 'text'},
    token_counts: [0, 4, 3, 0],
  };
  const found = parseEntry(Buffer.from(JSON.stringify(entry)));
  expect(found?.extracted).toEqual({markdown: 'text'});
  expect(found?.counts).toBeUndefined();
});
