import {expect, test} from 'vitest';
import {RuleIndex} from './rule-index.ts';

const disallow = (...patterns: readonly string[]) => patterns.map(pattern => ({allow: false, pattern}));

test('policy: the memory of an index is what its text and its columns take', () => {
  // Per index: one number more than rules for where they start. Per rule: start, weight, hash and next in
  // its chain. The table of chains has a power of two of slots, at least twice as many as rules.
  expect(new RuleIndex([]).bytes).toBe(4 + 4 * 1);
  // Three of text, one byte for each length from 0 to 3.
  expect(new RuleIndex(disallow('/ab')).bytes).toBe(3 + 4 + 4 * 4 + 4 * 4 + 4);
  // Found by three characters and not by a prefix, so no length at all.
  expect(new RuleIndex(disallow('/*abc', '/*abd', '/*abe')).bytes).toBe(15 + 4 + 3 * 16 + 8 * 4);
});

test.each([
  ['a rule longer than the path', ['/abcdef'], '/abc', true],
  ['the empty beginning of `*`', ['*'], '/', false],
  ['a rule for the root only', ['/$'], '/', false],
  ['a rule for the root only', ['/$'], '/a', true],
  ['three characters at the end of the path', ['*xyz$'], '/wxyz', false],
  ['three characters that occur more than once', ['*aaa*b'], '/aaaaaab', false],
])('T-WF-ROB-04 %s: %j and %s', (_, patterns, path, allowed) => {
  expect(new RuleIndex(disallow(...patterns)).decide(path).allowed).toBe(allowed);
});
