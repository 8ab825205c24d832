import {crc32} from 'node:zlib';
import {describe, expect, test} from 'vitest';
import {CACHE_URL, diskCacheFixture} from '../../../test/support/disk-cache-fixture.ts';
import {EXTRA_MEDIA} from '../page.ts';
import {parseEntry, printEntry, touchEntry} from './entry.ts';
import {readTokenCounts} from './stored-counts.ts';

const PLAIN = {
  canonical_url: 'https://x/',
  rendering_method: 'http',
  fetched_at: '2026-01-10T12:00:00Z',
  expires_at: '2026-01-17T12:00:00Z',
  last_accessed_at: '2026-01-10T14:30:00Z',
} as const;
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
    ['a checksum and wrong counts', {checksum: 1, token_counts: 7}],
  ])('ruling F4 an entry with %s is none', (_, fields) => {
    expect(read({})).toBeDefined();
    expect(read(fields)).toBeUndefined();
  });

  test('ruling F4 an entry with wrong counts beside the checksum of its page is none', () => {
    const printed = JSON.parse(
      Buffer.from(printEntry({...PLAIN, notes: [], extracted: {markdown: 'text'}})).toString(),
    ) as object;
    expect(read(printed)).toBeDefined();
    expect(read({...printed, token_counts: 7})).toBeUndefined();
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
    expect(await cache.recall(CACHE_URL, 'http')).toBeUndefined();
    await cache.write(page());
    const before = stored();
    clock.advance(30 * 86_400_000);
    expect(await cache.read(CACHE_URL, 'http')).toBeUndefined();
    expect((await cache.recall(CACHE_URL, 'http'))?.extracted.title).toBe('Page');
    expect(await cache.recall(CACHE_URL, 'browser')).toBeUndefined();
    expect(stored()).toEqual(before);
  });

  test('FR-WF-CCH-ENABLE-01 is none where the cache is off', async () => {
    for (const settings of [{directory: ''}, {maxEntries: 0}]) {
      expect(await diskCacheFixture(settings).cache.recall(CACHE_URL, 'http')).toBeUndefined();
    }
  });

  test('ruling R1 expires so many days after it was confirmed', async () => {
    const {cache, page, stored} = diskCacheFixture({ttlDays: 2});
    await cache.write(page(CACHE_URL, {facts: {validatedAt: '2026-02-01T00:00:00.000Z'}}));
    expect(stored()['expires_at']).toBe('2026-02-03T00:00:00.000Z');
  });
});

test('F6: of several counts each is looked at', () => {
  const four = [0, 1, 1, 1];
  expect(readTokenCounts([...four, ...four], 10)).toEqual(Int32Array.of(...four, ...four));
  expect(readTokenCounts([...four, 0, 0, 1, 1], 10)).toBeUndefined();
  expect(readTokenCounts([...four, 0, 1, 1, -2], 10)).toBeUndefined();
});
