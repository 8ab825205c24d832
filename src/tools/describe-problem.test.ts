import {expect, test} from 'vitest';
import {z} from 'zod';
import {schemaOf} from './schema.ts';

const TYPE = z.strictObject({
  number: z.number().max(9).optional(),
  text: z.string().min(2).max(3).optional(),
  list: z.array(z.string()).min(1).max(2).optional(),
  flag: z.boolean().optional(),
  kind: z.enum(['a', 'b']).optional(),
  date: z.iso.date().optional(),
  own: z
    .string()
    .refine(value => value === 'x', 'must be x')
    .optional(),
  inner: z.strictObject({deep: z.int()}).optional(),
  union: z.union([z.string(), z.int()]).optional(),
});

const problemsOf = (input: unknown) => {
  const parsed = schemaOf(TYPE).parse(input);
  return parsed.ok ? 'ok' : parsed.error.problems;
};

test.each<readonly [unknown, string, string, string]>([
  [{number: 'x'}, 'number', 'invalid', 'must be a whole number, got "x"'],
  [{number: 10}, 'number', 'invalid', 'must be at most 9, got 10'],
  [{number: 'x'.repeat(38)}, 'number', 'invalid', `must be a whole number, got "${'x'.repeat(38)}"`],
  [{number: 'x'.repeat(39)}, 'number', 'invalid', 'must be a whole number, got a string of 39 characters'],
  [{number: Array(20).fill(1)}, 'number', 'invalid', 'must be a whole number, got a list'],
  [{number: {a: 'x'.repeat(40)}}, 'number', 'invalid', 'must be a whole number, got an object'],
  [{number: Number.NaN}, 'number', 'invalid', 'must be a whole number, got null'],
  [{number: () => {}}, 'number', 'invalid', 'must be a whole number, got () => {}'],
  [{text: 1}, 'text', 'invalid', 'must be a string, got 1'],
  [{text: ''}, 'text', 'invalid', 'must not be empty'],
  [{text: 'a'}, 'text', 'invalid', 'must have at least 2 characters, got 1'],
  [{text: 'abcd'}, 'text', 'invalid', 'must have at most 3 characters, got 4'],
  [{list: {}}, 'list', 'invalid', 'must be a list, got {}'],
  [{list: []}, 'list', 'invalid', 'must have at least 1 entry, got 0'],
  [{list: ['a', 'b', 'c']}, 'list', 'invalid', 'must have at most 2 entries, got 3'],
  [{list: ['a', 1]}, 'list.1', 'invalid', 'must be a string, got 1'],
  [{flag: 'x'}, 'flag', 'invalid', 'must be true or false, got "x"'],
  [{kind: 'c'}, 'kind', 'invalid', 'must be one of "a", "b", got "c"'],
  [{own: 'y'}, 'own', 'invalid', 'must be x'],
  [{inner: 1}, 'inner', 'invalid', 'must be an object, got 1'],
  [{inner: {}}, 'inner.deep', 'missing', 'is required'],
  [{inner: {deep: 1, more: 2}}, 'inner.more', 'unknown', 'is no parameter'],
  [{inner: {deep: null}}, 'inner.deep', 'invalid', 'must be a whole number, got null'],
  [{toString: 1}, 'toString', 'unknown', 'is no parameter'],
  [{date: 'x'}, 'date', 'invalid', 'Invalid ISO date'],
  [{union: true}, 'union', 'invalid', 'Invalid input'],
  ['x', 'params', 'invalid', 'must be an object, got "x"'],
])('ruling H2: what is wrong with %j', (input, field, kind, reason) => {
  expect(problemsOf(input)).toEqual([{field, kind, reason}]);
});

test('ruling H2: each unknown name is a problem of its own', () => {
  expect(problemsOf({one: 1, two: 2})).toEqual([
    {field: 'one', kind: 'unknown', reason: 'is no parameter'},
    {field: 'two', kind: 'unknown', reason: 'is no parameter'},
  ]);
});

test('ruling H2: digits are a whole number, also with a sign, and not too many', () => {
  const schema = schemaOf(z.strictObject({count: z.int().optional(), name: z.string().optional()}));
  const value = (input: unknown) => {
    const parsed = schema.parse(input);
    return parsed.ok ? parsed.value : parsed.error.all;
  };
  expect(value({count: '-12', name: '12'})).toEqual({count: -12, name: '12'});
  expect(value({count: '123456789012345'})).toEqual({count: 123_456_789_012_345});
  for (const wrong of ['1234567890123456', '1.5', '', '-', 'x1', '1x', ' 1']) {
    expect(value({count: wrong})).toBe(`count: must be a whole number, got ${JSON.stringify(wrong)}`);
  }
});
