import {expect, test} from 'vitest';
import {readTokenCounts} from './stored-counts.ts';

// Of a text of ten units: four numbers each, how far on it begins, its units, its tokens, and its tokens behind a blank.
test.each<[string, readonly number[]]>([
  ['nothing', []],
  ['all of it', [0, 10, 1, 1]],
  ['its last unit', [9, 1, 1, 0]],
  ['as many tokens as there can be', [0, 1, 30, 60]],
  ['none that is known behind a blank', [0, 1, 1, -1]],
  ['several, up to its end', [0, 2, 1, 1, 5, 3, 1, 1, 3, 2, 2, 2]],
  ['several that begin together', [2, 2, 1, 1, 0, 3, 1, 1]],
])('F6: counts of a text may be %s', (_, counts) => {
  expect(readTokenCounts(counts, 10)).toEqual(Int32Array.from(counts));
});

test.each<[string, unknown]>([
  ['no list', undefined],
  ['no list', {length: 0}],
  ['no list', '[]'],
  ['a number too few', [0, 1, 1]],
  ['a number too many', [0, 1, 1, 1, 0]],
  ['a start before the text', [-1, 1, 1, 1]],
  ['a start behind it', [11, 1, 1, 1]],
  ['no units', [0, 0, 1, 1]],
  ['more units than the text', [0, 11, 1, 1]],
  ['no tokens', [0, 1, 0, 1]],
  ['more tokens than it can have', [0, 1, 31, 1]],
  ['less than nothing behind a blank', [0, 1, 1, -2]],
  ['more behind a blank than it can have', [0, 1, 1, 61]],
  ['an end behind the text', [9, 2, 1, 1]],
  ['an end behind the text, by the one before', [6, 1, 1, 1, 3, 2, 1, 1]],
  ['a fraction', [0.5, 1, 1, 1]],
  ['a fraction of a unit', [0, 1.5, 1, 1]],
  ['a text', ['0', 1, 1, 1]],
  ['nothing', [null, 1, 1, 1]],
])('F6: counts of a text are not %s', (_, counts) => {
  expect(readTokenCounts(counts, 10)).toBeUndefined();
});
