import {expect, test} from 'vitest';
import {createManualClock} from '../../../test/support/manual-clock.ts';
import {RobotsCache} from './robots-cache.ts';

test('FR-WF-08f an entry ends with its time to live', () => {
  const clock = createManualClock();
  const cache = new RobotsCache<number>({entries: 2, bytes: 100, ttlMs: 1000}, clock);
  cache.set('a', 1, 1);
  clock.advance(999);
  expect(cache.get('a')).toBe(1);
  clock.advance(1);
  expect(cache.get('a')).toBeUndefined();
  cache.set('a', 2, 1);
  clock.advance(-1);
  expect(cache.get('a')).toBeUndefined();
});

test('FR-WF-08g the least recently used origin goes first', () => {
  const cache = new RobotsCache<number>({entries: 2, bytes: 100, ttlMs: 1000}, createManualClock());
  cache.set('a', 1, 1);
  cache.set('b', 2, 1);
  cache.get('a');
  cache.set('c', 3, 1);
  expect(['a', 'b', 'c'].map(origin => cache.get(origin))).toEqual([1, undefined, 3]);
  cache.set('a', 4, 1);
  expect(['a', 'c'].map(origin => cache.get(origin))).toEqual([4, 3]);
});

test('FR-WF-ROBOTS-CACHE-03 no entries means no cache', () => {
  const cache = new RobotsCache<number>({entries: 0, bytes: 100, ttlMs: 1000}, createManualClock());
  cache.set('a', 1, 1);
  expect(cache.get('a')).toBeUndefined();
});

test('policy: the cache is bounded by bytes too, so that a thousand large files cannot fill the memory', () => {
  const limits = {entries: 100, bytes: 100, ttlMs: 1000};
  const cache = new RobotsCache<number>(limits, createManualClock());
  const known = (): (number | undefined)[] => ['a', 'b', 'c', 'd'].map(origin => cache.get(origin));
  cache.set('a', 1, 40);
  cache.set('b', 2, 40);
  cache.set('c', 3, 60);
  expect(known()).toEqual([undefined, 2, 3, undefined]);
  // What replaces an entry takes its place, and what was pushed out counts no longer.
  cache.set('b', 4, 10);
  cache.set('a', 5, 30);
  expect(known()).toEqual([5, 4, 3, undefined]);
  cache.set('d', 6, 100);
  expect(known()).toEqual([undefined, undefined, undefined, 6]);
  cache.set('d', 7, 101);
  expect(known()).toEqual([undefined, undefined, undefined, undefined]);
});

test('policy: an entry whose time is over gives its bytes back', () => {
  const clock = createManualClock();
  const cache = new RobotsCache<number>({entries: 100, bytes: 100, ttlMs: 1000}, clock);
  cache.set('a', 1, 90);
  clock.advance(1000);
  expect(cache.get('a')).toBeUndefined();
  cache.set('b', 2, 50);
  cache.set('c', 3, 50);
  expect([cache.get('b'), cache.get('c')]).toEqual([2, 3]);
});
