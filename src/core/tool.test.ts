import {expect, test} from 'vitest';
import {fail} from './failure/fail.ts';
import {ok} from './result.ts';
import {defineTool, type Schema, type ToolContext} from './tool.ts';

const number: Schema<number> = {
  jsonSchema: {type: 'number'},
  parse: input =>
    typeof input === 'number'
      ? {ok: true, value: input}
      : {
          ok: false,
          error: {
            field: 'params',
            reason: 'no number',
            all: 'params: no number',
            problems: [{field: 'params', kind: 'invalid', reason: 'no number'}],
          },
        },
};

const double = defineTool({
  name: 'double',
  title: 'Double',
  description: 'Doubles a number.',
  annotations: {readOnly: true, destructive: false, idempotent: true, openWorld: false},
  params: number,
  data: {...number, jsonSchema: {type: 'integer'}},
  badParams: 'invalid_params',
  action: undefined,
  timeoutMs: value => value * 1000,
  intend: async value =>
    ok({subject: {kind: 'command', values: [String(value)]}, summary: 's', preview: 'p', fileHashes: {}}),
  execute: async value => (value < 0 ? fail('invalid_params', 'Negative.') : ok(value * 2)),
  renderText: data => `= ${data.toFixed(1)}`,
  resultFields: data => ({exit_code: data}),
});

// Tools of these tests look at no context.
const context = {} as ToolContext;

test('policy: a tool closes over the types of its definition', async () => {
  expect(double).toMatchObject({
    name: 'double',
    paramsSchema: {type: 'number'},
    dataSchema: {type: 'integer'},
  });
  expect(double).not.toHaveProperty('params');
  const prepared = double.prepare(4);
  if (!prepared.ok) throw new Error(prepared.error.reason);
  expect(prepared.value.timeoutMs).toBe(4000);
  expect(await prepared.value.intend(context)).toMatchObject({ok: true, value: {subject: {values: ['4']}}});
  expect(await prepared.value.execute(context)).toEqual({ok: true, value: {data: 8, fields: {exit_code: 8}}});
  expect(double.renderText(8)).toBe('= 8.0');
});

test('policy: what does not validate is not a call', () => {
  expect(double.prepare('4')).toMatchObject({
    ok: false,
    error: {field: 'params', reason: 'no number', all: 'params: no number'},
  });
});

test('policy: a failure has no fields of a result', async () => {
  const prepared = double.prepare(-1);
  expect(prepared.ok && (await prepared.value.execute(context))).toEqual(fail('invalid_params', 'Negative.'));
});
