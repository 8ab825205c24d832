import {expect, test} from 'vitest';
import {z} from 'zod';
import {schemaOf} from './schema.ts';

const TYPE = z.strictObject({
  path: z.string().min(1).describe('File.'),
  start_line: z.int().min(1).optional(),
  limit: z.int().default(50),
  env: z.record(z.string(), z.string()).optional(),
});
const schema = schemaOf(TYPE);

test('ruling H2 600.0 is an integer', () => {
  expect(schema.parse(JSON.parse('{"path":"a","start_line":600.0}'))).toEqual({
    ok: true,
    value: {path: 'a', start_line: 600, limit: 50},
  });
  expect(schema.parse({path: 'a', start_line: 1.5})).toMatchObject({ok: false, error: {field: 'start_line'}});
});

test('ruling H2 null leaves out what may be left out, and nothing else', () => {
  expect(schema.parse({path: 'a', start_line: null, limit: null, env: null})).toEqual({
    ok: true,
    value: {path: 'a', limit: 50},
  });
  expect(schema.parse({path: null})).toMatchObject({ok: false, error: {field: 'path'}});
  expect(schema.parse({path: 'a', other: null})).toMatchObject({ok: false, error: {field: 'other'}});
  expect(schema.parse({path: 'a', env: {A: null}})).toMatchObject({ok: false, error: {field: 'env.A'}});
});

test('ruling H2 in web_fetch, null is no omission', () => {
  expect(schemaOf(TYPE, {isLenient: false}).parse({path: 'a', start_line: null})).toMatchObject({
    ok: false,
    error: {field: 'start_line'},
  });
});

test('ruling H2 missing parameters are {}', () => {
  expect(schemaOf(z.strictObject({a: z.string().default('x')})).parse(undefined)).toEqual({
    ok: true,
    value: {a: 'x'},
  });
  expect(schema.parse(undefined)).toMatchObject({ok: false, error: {field: 'path'}});
  for (const wrong of [null, [], 'x', 7]) {
    expect(schema.parse(wrong)).toMatchObject({ok: false, error: {field: 'params'}});
  }
});

test('policy: the first wrong parameter is named, and all are listed', () => {
  const parsed = schema.parse({path: '', env: {A: 1}, nope: 1});
  expect(parsed).toMatchObject({ok: false, error: {field: 'path'}});
  expect(parsed.ok ? '' : parsed.error.all).toMatch(/^path: .*; env\.A: .*; nope: .*$/);
});

test('policy: JSON Schema 2020-12, as short as it can be', () => {
  expect(schema.jsonSchema).toEqual({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      path: {type: 'string', minLength: 1, description: 'File.'},
      start_line: {type: 'integer', minimum: 1},
      limit: {type: 'integer', default: 50},
      env: {type: 'object', propertyNames: {type: 'string'}, additionalProperties: {type: 'string'}},
    },
    required: ['path'],
    additionalProperties: false,
  });
});
