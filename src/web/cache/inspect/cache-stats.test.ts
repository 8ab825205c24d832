import {expect, test} from 'vitest';
import {cacheStats} from './cache-stats.ts';
import type {ScannedEntry} from './scan-entries.ts';

function entry(url: string, size: number, day: number, fresh = true): ScannedEntry {
  const at = `2026-01-0${day}T00:00:00.000Z`;
  const times = {fetched_at: at, expires_at: at, last_accessed_at: at};
  const page = {url, rendering_method: 'http' as const, ...times, bytes: size, fresh};
  return {key: url, path: `/c/${url}`, size, page} as unknown as ScannedEntry;
}
const damaged = (size: number) => ({...entry('', size, 1), page: undefined}) as ScannedEntry;
const LIMITS = {maxEntries: 9, maxBytes: 99};

test('policy: entries, bytes and times of a cache are told', () => {
  const found = [
    entry('https://b.test/1', 5, 3),
    damaged(7),
    entry('https://b.test/2', 6, 5, false),
    entry('https://b.test/3', 4, 2),
  ];
  expect(cacheStats('/c', found, LIMITS)).toEqual({
    directory: '/c',
    entries: 4,
    bytes: 22,
    max_entries: 9,
    max_bytes: 99,
    fresh: 2,
    stale: 1,
    unusable: 1,
    oldest: '2026-01-02T00:00:00.000Z',
    newest: '2026-01-05T00:00:00.000Z',
    hosts: [{host: 'b.test', entries: 3, bytes: 15}],
  });
  expect(cacheStats('/c', [], LIMITS)).toMatchObject({entries: 0, oldest: null, newest: null, hosts: []});
});

test('policy: the host with most pages comes first, then the one with most bytes, then by name', () => {
  const found = [
    entry('http://d.test/', 5, 1),
    entry('http://a.test/', 5, 1),
    entry('http://c.test/', 8, 1),
    entry('http://b.test:81/', 1, 1),
    entry('http://b.test:81/x', 1, 1),
    entry('no address', 5, 1),
  ];
  for (const list of [found, found.toReversed()]) {
    const {hosts} = cacheStats('/c', list, LIMITS);
    expect(hosts.map(({host}) => host)).toEqual(['b.test:81', 'c.test', '?', 'a.test', 'd.test']);
  }
});
