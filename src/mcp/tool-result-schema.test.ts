import {expect, test} from 'vitest';
import {toolResultSchema} from './tool-result-schema.ts';

test('ruling H2 definitions of the data move to the root, where their references point', () => {
  const schema = toolResultSchema({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $defs: {line: {type: 'string'}},
    type: 'object',
    properties: {lines: {type: 'array', items: {$ref: '#/$defs/line'}}},
  });
  expect(schema).toMatchObject({
    type: 'object',
    $defs: {line: {type: 'string'}},
    properties: {
      data: {
        anyOf: [
          {type: 'object', properties: {lines: {type: 'array', items: {$ref: '#/$defs/line'}}}},
          {type: 'null'},
        ],
      },
    },
  });
  expect(schema).not.toHaveProperty('$schema');
});
