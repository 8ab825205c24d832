import {expect, test} from 'vitest';
import {createManualClock} from '../../../test/support/manual-clock.ts';
import {RobotsCache} from './robots-cache.ts';

test('FR-WF-08f an entry ends with its time to live', () => {
  const clock = createManualClock();
  const cache = new RobotsCache<number>(2, 1000, clock);
  cache.set('a', 1);
  clock.advance(999);
  expect(cache.get('a')).toBe(1);
  clock.advance(1);
  expect(cache.get('a')).toBeUndefined();
  cache.set('a', 2);
  clock.advance(-1);
  expect(cache.get('a')).toBeUndefined();
});

test('FR-WF-08g the least recently used origin goes first', () => {
  const cache = new RobotsCache<number>(2, 1000, createManualClock());
  cache.set('a', 1);
  cache.set('b', 2);
  cache.get('a');
  cache.set('c', 3);
  expect(['a', 'b', 'c'].map(origin => cache.get(origin))).toEqual([1, undefined, 3]);
  cache.set('a', 4);
  expect(['a', 'c'].map(origin => cache.get(origin))).toEqual([4, 3]);
});

test('FR-WF-ROBOTS-CACHE-03 no entries means no cache', () => {
  const cache = new RobotsCache<number>(0, 1000, createManualClock());
  cache.set('a', 1);
  expect(cache.get('a')).toBeUndefined();
});
