import {expect, test} from 'vitest';
import {describeNumber, describeValue, isTable} from './describe-value.ts';

test.each<[unknown, string]>([
  ['20', 'the string "20"'],
  [true, 'the boolean true'],
  [900n, 'the integer 900'],
  [20, 'the integer 20'],
  [0.5, 'the number 0.5'],
  [Number.NaN, 'the number NaN'],
  [null, 'null'],
  [[1], 'an array'],
  [new Date(0), 'a date'],
  [{a: 1}, 'a table'],
  [undefined, 'a value of type undefined'],
  ['x'.repeat(60), `the string "${'x'.repeat(60)}"`],
  ['x'.repeat(61), `the string "${'x'.repeat(60)}…"`],
])('policy: an error message names %o as %s', (value, expected) => {
  expect(describeValue(value)).toBe(expected);
});

test('policy: a number of a file is shown in part where it is long', () => {
  expect(describeNumber(10n ** 60n)).toBe(`1${'0'.repeat(59)}…`);
  expect(describeNumber(10n ** 59n)).toBe(`1${'0'.repeat(59)}`);
});

test.each<[unknown, boolean]>([
  [{}, true],
  [[], false],
  [null, false],
  [new Date(0), false],
  ['a', false],
  [undefined, false],
])('policy: %j is a table: %s', (value, expected) => {
  expect(isTable(value)).toBe(expected);
});
