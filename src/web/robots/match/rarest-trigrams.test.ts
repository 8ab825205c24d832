import {expect, test} from 'vitest';
import {FNV1A_START, fnv1aExtend} from './fnv1a.ts';
import {rarestTrigrams} from './rarest-trigrams.ts';

const hashOf = (text: string): number =>
  [...text].reduce((hash, character) => fnv1aExtend(hash, character.charCodeAt(0)), FNV1A_START);

test.each([
  ['the one that fewest patterns share', ['/*abcd', '/*abce', '/*zabc'], [['bcd'], ['bce'], ['zab']]],
  ['the first of those that are as rare', ['*abcd'], [['abc']]],
  ['none without a wildcard', ['/abcd', '/abcd$'], [[], []]],
  ['none in fewer than three literal characters', ['*ab*cd*', '/a*ab$', '*a*b*c'], [[], [], []]],
  ['the wildcard parts what stands around it', ['ab*cde', '*a*cde*'], [['cde'], ['cde']]],
  ['the end of the path is no character', ['*ab$', '*abc$'], [[], ['abc']]],
  ['literal patterns do not count', ['/abcd', '/abce', '*abcd'], [[], [], ['abc']]],
])('a pattern is filed under three characters: %s', (_, patterns, expected) => {
  const found = rarestTrigrams(patterns);
  expect(patterns.map((_, rule) => found.get(rule))).toEqual(
    expected.map(([trigram]) => (trigram === undefined ? undefined : hashOf(trigram))),
  );
});
