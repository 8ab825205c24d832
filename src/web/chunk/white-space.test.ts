import {expect, test} from 'vitest';
import {contentEnd, contentStart, isWhiteSpace} from './white-space.ts';

test('FR-WF-15 white space is what Unicode calls White_Space', () => {
  const units = Array.from({length: 0x1_0000}, (_, unit) => unit);
  const expected = units.filter(unit => /\p{White_Space}/u.test(String.fromCharCode(unit)));
  expect(units.filter(isWhiteSpace)).toEqual(expected);
});

test('FR-WF-15 content is looked for between the two places only', () => {
  const text = 'a  b  c';
  expect([contentStart(text, 1, 7), contentStart(text, 1, 3), contentStart(text, 1, 2)]).toEqual([3, 3, 2]);
  expect([contentEnd(text, 0, 6), contentEnd(text, 4, 6), contentEnd(text, 5, 6)]).toEqual([4, 4, 5]);
});
