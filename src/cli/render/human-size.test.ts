import {expect, test} from 'vitest';
import {groupDigits} from './group-digits.ts';
import {humanDuration} from './human-duration.ts';
import {humanSize} from './human-size.ts';

test.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1024, '1.0 KiB'],
  [10 * 1024, '10 KiB'],
  [1023 * 1024, '1023 KiB'],
  [1024 * 1024 - 1, '1.0 MiB'],
  [2 ** 40, '1.0 TiB'],
  [2 ** 52, '4096 TiB'],
])('policy: %j bytes are %s', (bytes, text) => {
  expect(humanSize(bytes)).toBe(text);
});

test.each([
  [-5, '0s'],
  [499, '0s'],
  [59_499, '59s'],
  [59_600, '1m'],
  [200_000, '3m 20s'],
  [7_200_000, '2h'],
  [7_261_000, '2h 1m'],
  [608_400_000, '7d 1h'],
])('policy: %j ms are %s', (ms, text) => {
  expect(humanDuration(ms)).toBe(text);
});

test.each([
  [0, '0'],
  [999, '999'],
  [1000, '1,000'],
  [1_234_567, '1,234,567'],
])('policy: %j is written %s', (number, text) => {
  expect(groupDigits(number)).toBe(text);
});
