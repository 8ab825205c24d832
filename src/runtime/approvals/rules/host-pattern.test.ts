import {expect, test} from 'vitest';
import {compileHostPattern} from './host-pattern.ts';

test.each([
  ['example.com', 'https://example.com/a?b', true],
  ['example.com', 'https://EXAMPLE.com./', true],
  ['example.com', 'https://www.example.com/', false],
  ['example.com', 'https://notexample.com/', false],
  ['example.com', 'https://example.com.evil.org/', false],
  ['example.com', 'https://evil.org/example.com', false],
  ['example.com', 'https://example.com@evil.org/', false],
  ['example.com', 'https://evil.org\\@example.com/', false],
  ['.example.com', 'https://www.example.com/', true],
  ['.example.com', 'https://a.b.example.com/', true],
  ['.example.com', 'https://example.com/', false],
  ['.example.com', 'https://notexample.com/', false],
  ['bücher.de', 'https://xn--bcher-kva.de/', true],
  ['[::1]', 'http://[0:0::1]:8080/', true],
  ['example.com', 'no url', false],
])('policy: hosts match on dot boundaries: %s on %s is %s', (pattern, url, expected) => {
  const host = compileHostPattern(pattern);
  expect(host.ok && host.value(url)).toBe(expected);
});

test.each(['*.example.com', 'https://example.com', 'example.com/x', 'example.com:80', '.', '', 'a b', 'u@h'])(
  'policy: %j is no host and stops start-up',
  pattern => {
    expect(compileHostPattern(pattern).ok).toBe(false);
  },
);
