import {describe, expect, test} from 'vitest';
import type {NewCacheEntry} from './entry.ts';
import {parseEntry} from './entry.ts';
import {printSharedEntry, readSharedEntry} from './shared-entry.ts';

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

  test('ruling S1 is none of another address, and none where it is damaged', () => {
    expect(read(AT, PAGE, `${ADDRESS}#pdf`)).toBeUndefined();
    for (const bytes of ['', '{}', 'null']) {
      expect(readSharedEntry(Buffer.from(bytes), {address: ADDRESS, ttlDays: 7, now: AT})).toBeUndefined();
    }
  });
});
