import {expect, test} from 'vitest';
import {parseUrl} from './parse-url.ts';

function canonical(input: string): string {
  const result = parseUrl(input);
  return result.ok ? result.value.canonical : result.error.code;
}

test.each([
  ['http://e.com/#', 'http://e.com/'],
  ['http://e.com/a#b#c', 'http://e.com/a'],
  ['http://e.com/?q#part?x', 'http://e.com/?q'],
  ['http://e.com#part', 'http://e.com/'],
])('FR-WF-NORM-01 the fragment of %s goes', (input, expected) => {
  expect(canonical(input)).toBe(expected);
});

test.each([
  ['HTTP://E.COM/', 'http://e.com/'],
  ['hTtPs://Sub.Example.CoM/Path?Query', 'https://sub.example.com/Path?Query'],
])('FR-WF-NORM-02 scheme and host of %s are in lower case, and nothing else', (input, expected) => {
  expect(canonical(input)).toBe(expected);
});

test.each([
  ['http://e.com:80/', 'http://e.com/'],
  ['https://e.com:443/', 'https://e.com/'],
  ['http://e.com:/', 'http://e.com/'],
  ['http://e.com:00080/', 'http://e.com/'],
  ['http://e.com:443/', 'http://e.com:443/'],
  ['https://e.com:80/', 'https://e.com:80/'],
  ['http://e.com:81/', 'http://e.com:81/'],
])('FR-WF-NORM-03 the port of %s is left out only where it is the default', (input, expected) => {
  expect(canonical(input)).toBe(expected);
});

test.each([
  ['http://e.com', 'http://e.com/'],
  ['http://e.com?q', 'http://e.com/?q'],
  ['http://e.com/a/./b', 'http://e.com/a/b'],
  ['http://e.com/a/../b', 'http://e.com/b'],
  ['http://e.com/../../b', 'http://e.com/b'],
  ['http://e.com/a/..', 'http://e.com/'],
  ['http://e.com/a/', 'http://e.com/a/'],
  ['http://e.com/a', 'http://e.com/a'],
])('FR-WF-NORM-04 the path of %s loses its dots and keeps its last slash', (input, expected) => {
  expect(canonical(input)).toBe(expected);
});

test.each(['?b=2&a=1', '?a=1&a=2&a=1', '?z&y&x', '?&&', '?a=1;b=2', '?=&='])(
  'FR-WF-NORM-05 the query %s keeps its order',
  query => {
    expect(canonical(`http://e.com/${query}`)).toBe(`http://e.com/${query}`);
  },
);
