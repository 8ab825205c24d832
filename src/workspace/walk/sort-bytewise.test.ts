import {describe, expect, test} from 'vitest';
import {bytewise} from './bytewise.ts';
import {sortBytewise} from './sort-bytewise.ts';

const inBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

// In this order.
const NAMES = [
  '',
  'A',
  'a',
  'a-',
  'a/',
  'ab',
  'b',
  '\u{e9}',
  '\ud7ff',
  '\ue000',
  '\uffee',
  '\u{10000}',
  '\u{103fe}',
  '\u{103ff}',
  '\u{10400}',
  '\u{1f600}',
];

describe('ruling W3: paths are in the order of their bytes', () => {
  test.each(NAMES.flatMap((one, at) => NAMES.slice(at).map(other => [one, other])))(
    '%j, %j',
    (one, other) => {
      expect(Math.sign(bytewise(one, other))).toBe(inBytes(one, other));
      expect(bytewise(other, one)).toBe(-bytewise(one, other) + 0);
    },
  );

  test('some of which are beyond the other units, all of them, or none', () => {
    expect(sortBytewise(NAMES.toReversed())).toEqual(NAMES);
    expect(sortBytewise(['\u{1f600}', '\uffee'])).toEqual(['\uffee', '\u{1f600}']);
    expect(sortBytewise(['b', '\u{e9}', 'a'])).toEqual(['a', 'b', '\u{e9}']);
  });
});
