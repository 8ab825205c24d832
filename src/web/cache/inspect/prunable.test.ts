import {expect, test} from 'vitest';
import {choosePrunable} from './prunable.ts';
import type {ScannedEntry} from './scan-entries.ts';

/** An entry of ten bytes, last used at that second; stale, or of no use. */
function entry(
  key: string,
  second: number | undefined,
  state: 'fresh' | 'stale' | 'unusable' = 'fresh',
): ScannedEntry {
  const time = second === undefined ? '' : new Date(second * 1000).toISOString();
  const page = {
    url: `https://${key}.example/`,
    rendering_method: 'http' as const,
    fetched_at: time,
    expires_at: time,
    last_accessed_at: time,
    bytes: 10,
    fresh: state === 'fresh',
  };
  return {
    key,
    path: key,
    size: 10,
    inode: 0,
    changedMs: 0,
    head: undefined,
    page: state === 'unusable' ? undefined : page,
  };
}

const FOUND = [
  entry('new', 9),
  entry('stale', 8, 'stale'),
  entry('b', 5),
  entry('a', 5),
  entry('bad', undefined, 'unusable'),
  entry('old', 1),
];
const ALWAYS = {stale: 'expired', bad: 'unusable'};

test.each<[string, {maxEntries?: number; maxBytes?: number}, Record<string, string>]>([
  ['what no fetch would serve', {}, {}],
  ['and nothing more, where the rest just fits', {maxEntries: 4, maxBytes: 40}, {}],
  ['the least recently used one, by number', {maxEntries: 3}, {old: 'over_limit'}],
  ['the least recently used one, by size', {maxBytes: 39}, {old: 'over_limit'}],
  ['of two as old as each other, the first by key', {maxEntries: 2}, {old: 'over_limit', a: 'over_limit'}],
  ['as many as it takes, by size', {maxBytes: 19}, {old: 'over_limit', a: 'over_limit', b: 'over_limit'}],
  ['all', {maxEntries: 0}, {old: 'over_limit', a: 'over_limit', b: 'over_limit', new: 'over_limit'}],
])('FR-WF-CCH-LRU-01 goes: %s', (_, {maxEntries = 100, maxBytes = 1000}, expected) => {
  const chosen = choosePrunable(FOUND, {maxEntries, maxBytes});
  expect(Object.fromEntries([...chosen].map(([{key}, reason]) => [key, reason]))).toEqual({
    ...ALWAYS,
    ...expected,
  });
});

test('FR-WF-CCH-LRU-01 what does not say when it was used goes first', () => {
  const chosen = choosePrunable([entry('old', 1), entry('silent', undefined)], {
    maxEntries: 1,
    maxBytes: 100,
  });
  expect([...chosen.keys()].map(({key}) => key)).toEqual(['silent']);
});
