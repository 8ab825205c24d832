import {expect, test} from 'vitest';
import {createManualClock} from '../../../test/support/manual-clock.ts';
import type {CanonicalUrl} from '../page.ts';
import {PermanentRedirects} from './permanent-redirects.ts';

const url = (name: string) => `https://${name}.example/` as CanonicalUrl;

test('F2: a redirect is known until its time is over, and anew from when it is seen again', () => {
  const clock = createManualClock();
  const redirects = new PermanentRedirects(10, 1000, clock);
  redirects.remember(url('a'), url('b'));
  expect(redirects.recall(url('b'))).toBeUndefined();
  clock.advance(999);
  expect(redirects.recall(url('a'))).toBe(url('b'));
  redirects.remember(url('a'), url('c'));
  clock.advance(999);
  expect(redirects.recall(url('a'))).toBe(url('c'));
  clock.advance(1);
  expect(redirects.recall(url('a'))).toBeUndefined();
});

test('F2: no more are known than there is room for, and the oldest goes first', () => {
  const redirects = new PermanentRedirects(2, 1000, createManualClock());
  const known = () => ['a', 'b', 'c', 'd'].filter(name => redirects.recall(url(name)) !== undefined);
  redirects.remember(url('a'), url('x'));
  redirects.remember(url('b'), url('x'));
  expect(known()).toEqual(['a', 'b']);
  redirects.remember(url('a'), url('y'));
  expect(known()).toEqual(['a', 'b']);
  redirects.remember(url('c'), url('x'));
  expect(known()).toEqual(['a', 'c']);
  redirects.remember(url('d'), url('x'));
  expect(known()).toEqual(['c', 'd']);
});

test('F2: without room nothing is known', () => {
  const redirects = new PermanentRedirects(0, 1000, createManualClock());
  redirects.remember(url('a'), url('x'));
  expect(redirects.recall(url('a'))).toBeUndefined();
});
