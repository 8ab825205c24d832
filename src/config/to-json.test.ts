import {expect, test} from 'vitest';
import {toJson} from './to-json.ts';

const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);

test.each<[unknown, unknown]>([
  [null, null],
  [true, true],
  ['a', 'a'],
  [1.5, 1.5],
  [2n ** 53n - 1n, 2 ** 53 - 1],
  [2n ** 53n, undefined],
  [Number.NaN, undefined],
  [Number.POSITIVE_INFINITY, undefined],
  [new Date(0), undefined],
  [undefined, undefined],
  [
    [1, 'a', [2n]],
    [1, 'a', [2]],
  ],
  [[1, new Date(0)], undefined],
  [
    {a: {b: [1n]}, c: null},
    {a: {b: [1]}, c: null},
  ],
  [{a: 1, b: new Date(0)}, undefined],
  [nested(64), nested(64)],
  [nested(65), undefined],
])('policy: %o of a file is %o', (value, expected) => {
  expect(toJson(value)).toEqual(expected);
});

test('policy: what comes of a file cannot be changed', () => {
  const json = toJson({a: [1, {b: 2}]}) as {a: unknown[]};
  for (const part of [json, json.a, json.a[1]]) expect(Object.isFrozen(part)).toBe(true);
});

test('policy: tables are as deep as lists', () => {
  const tables = (depth: number): unknown => (depth === 0 ? 1 : {a: tables(depth - 1)});
  expect(toJson(tables(64))).toEqual(tables(64));
  expect(toJson(tables(65))).toBeUndefined();
});
