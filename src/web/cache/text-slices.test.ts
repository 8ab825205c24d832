import {expect, test} from 'vitest';
import {textSlices} from './text-slices.ts';

const MOST = 65_536;
const PAIR = '\u{1f600}';

test.each<[string, string, readonly number[]]>([
  ['nothing', '', []],
  ['one unit', 'a', [1]],
  ['as much as a slice holds', 'a'.repeat(MOST), [MOST]],
  ['one more', 'a'.repeat(MOST + 1), [MOST, 1]],
  ['two slices and some', 'a'.repeat(2 * MOST + 7), [MOST, MOST, 7]],
  ['a pair before the end of a slice', `${'a'.repeat(MOST - 2)}${PAIR}b`, [MOST, 1]],
  ['a pair across the end of a slice', `${'a'.repeat(MOST - 1)}${PAIR}b`, [MOST - 1, 3]],
  ['a pair behind it', `${'a'.repeat(MOST)}${PAIR}`, [MOST, 2]],
  ['half a pair at the very end', `${'a'.repeat(MOST - 1)}\ud83d`, [MOST]],
  ['the other half at the end of a slice', `${'a'.repeat(MOST - 1)}\ude00b`, [MOST, 1]],
])('FR-WF-16c %s is written slice by slice', (_, text, lengths) => {
  const slices = [...textSlices(text)];
  expect(slices.join('')).toBe(text);
  expect(slices.map(slice => slice.length)).toEqual(lengths);
});
