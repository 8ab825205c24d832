import {describe, expect, test} from 'vitest';
import {echoTool, toolOf} from '../../../test/support/open-test-runtime.ts';
import type {Failure} from '../../core/failure/failure.ts';
import type {Json} from '../../core/json.ts';
import type {ParameterProblem, Tool} from '../../core/tool.ts';
import {disabledFailure} from './disabled-failure.ts';
import {knownFields} from './known-fields.ts';
import {nestedDeeperThan} from './nested-deeper-than.ts';
import {prepareCall} from './prepare-call.ts';
import {unexpectedFailure} from './unexpected-failure.ts';

function nested(levels: number): Json {
  let value: Json = 'x';
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : {a: value};
  return value;
}

/** A tool whose parameters have these problems. */
function refusing(
  problems: readonly ParameterProblem[],
  paramsSchema: Tool['paramsSchema'],
  all = 'all',
): Tool {
  const [{field, reason} = {field: '', reason: ''}] = problems;
  return {
    ...toolOf('t', async () => 1),
    paramsSchema,
    prepare: () => ({ok: false, error: {field, reason, all, problems}}),
  };
}

const SCHEMA = {properties: {path: {}, timeout_sec: {}, depth: {}}};
const unknown = (field: string): ParameterProblem => ({field, kind: 'unknown', reason: 'is unknown'});
const missing = (field: string): ParameterProblem => ({field, kind: 'missing', reason: 'is missing'});

function messageOf(problems: readonly ParameterProblem[], schema: Tool['paramsSchema'] = SCHEMA): string {
  const prepared = prepareCall(refusing(problems, schema), {});
  return prepared.ok ? '' : prepared.error.message;
}

describe('FR-ERR-JSON-02: what is wrong with the parameters of a call', () => {
  test('the whole failure', () => {
    const tool = refusing([missing('path')], SCHEMA, 'path: is missing');
    expect(prepareCall({...tool, badParams: 'bad_args'}, {})).toEqual({
      ok: false,
      error: {
        code: 'bad_args',
        message: '"path" is missing. Known: path, timeout_sec, depth.',
        retryable: false,
        details: {field: 'path', reason: 'is missing', validation: 'path: is missing'},
      },
    });
  });

  test.each<[string, readonly ParameterProblem[], string]>([
    ['a name that is not known', [unknown('zzz')], 'There is no parameter "zzz".'],
    [
      'one of other agents',
      [unknown('file_path')],
      'There is no parameter "file_path"; it is called "path".',
    ],
    [
      'one that takes something else',
      [unknown('timeout')],
      'There is no parameter "timeout"; it is called "timeout_sec" (in seconds).',
    ],
    [
      'one that is given under another name is not missing too',
      [missing('path'), missing('depth'), unknown('file_path')],
      '"depth" is missing. There is no parameter "file_path"; it is called "path".',
    ],
    [
      'one that is wrong under its own name stays wrong',
      [{field: 'path', kind: 'invalid', reason: 'must be a text'}, unknown('file_path')],
      '"path" must be a text. There is no parameter "file_path"; it is called "path".',
    ],
    [
      'all of them',
      [{field: 'params', kind: 'invalid', reason: 'must be an object'}],
      'The parameters must be an object.',
    ],
    ['what cannot be seen', [unknown('z\u202ez')], 'There is no parameter "z\\\\u{202e}z".'],
    ['a long name', [unknown('z'.repeat(100))], `There is no parameter "${'z'.repeat(64)}".`],
  ])('%s', (_, problems, sentences) => {
    expect(messageOf(problems)).toBe(`${sentences} Known: path, timeout_sec, depth.`);
  });

  test.each([{}, {properties: {}}, {properties: null}, {properties: 'x'}])(
    'a tool without parameters: %j',
    schema => {
      expect(messageOf([unknown('zzz')], schema)).toBe('There is no parameter "zzz". It has no parameters.');
    },
  );

  test.each([
    [5, ''],
    [6, ' And 1 more.'],
    [50, ' And 45 more.'],
    [51, ' And 46 more.'],
    [1000, ' And 995 more.'],
  ])('of %d problems five are said', (count, more) => {
    const sentences = ['z0', 'z1', 'z2', 'z3', 'z4']
      .map(name => `There is no parameter "${name}".`)
      .join(' ');
    const problems = Array.from({length: count}, (_, at) => unknown(`z${at}`));
    expect(messageOf(problems)).toBe(`${sentences}${more} Known: path, timeout_sec, depth.`);
  });

  test('the list of all and the first name are cut', () => {
    const prepared = prepareCall(refusing([missing('p'.repeat(100))], SCHEMA, 'x'.repeat(5000)), {});
    expect(prepared.ok ? {} : prepared.error.details).toEqual({
      field: 'p'.repeat(64),
      reason: 'is missing',
      validation: 'x'.repeat(4000),
    });
  });

  test('parameters may be nested 64 levels deep', () => {
    const any = toolOf('any', async () => 1);
    expect(prepareCall(any, {a: nested(63)}).ok).toBe(true);
    expect(prepareCall(echoTool, {a: nested(64)})).toEqual({
      ok: false,
      error: {
        code: 'invalid_params',
        message: 'The parameters must not be nested deeper than 64 levels. Known: text, count.',
        retryable: false,
        details: {
          field: 'params',
          reason: 'must not be nested deeper than 64 levels',
          validation: 'params: must not be nested deeper than 64 levels',
        },
      },
    });
  });

  test.each([
    [0, 'x', false],
    [0, [], false],
    [0, [1], true],
    [1, [[]], false],
    [1, [{}], false],
    [1, [{a: 1}], true],
    [1, {a: [1], b: 2}, true],
    [2, {a: [1], b: 2}, false],
  ])('more than %d levels: %j: %s', (levels, value, expected) => {
    expect(nestedDeeperThan(levels, value as Json)).toBe(expected);
  });
});

describe('ruling W8: what is known of a command that did not end by itself', () => {
  const fieldsOf = (details: Failure['details']) =>
    knownFields({code: 'timeout', message: '', retryable: true, details});

  test.each<[Failure['details'], object]>([
    [{}, {}],
    [{exit_code: 137}, {exit_code: 137}],
    [{exit_code: '137'}, {}],
    [
      {exit_code: 0, partial: {stdout_path: 'a', stderr_path: 'b', more: 1}},
      {exit_code: 0, stdout_path: 'a', stderr_path: 'b'},
    ],
    [{partial: {stdout_path: 1, stderr_path: null}}, {}],
    [{partial: {stderr_path: 'b'}}, {stderr_path: 'b'}],
    [{partial: null}, {}],
    [{partial: 'x'}, {}],
    [{partial: ['x']}, {}],
  ])('%j', (details, fields) => {
    expect(fieldsOf(details)).toEqual(fields);
  });
});

describe('failures of calls that are not run to their end', () => {
  test('FR-WF-CFG-PREC-01 a disabled tool names the setting', () => {
    expect(disabledFailure('run', 'tools.run.enabled', 'is false')).toEqual({
      ok: false,
      error: {
        code: 'tool_disabled',
        message: 'run is not executed: tools.run.enabled is false. Have the operator change that setting.',
        retryable: false,
        details: {tool: 'run', setting: 'tools.run.enabled'},
      },
    });
  });

  test('NFR-WF-REL-02 a bug is in the log with its stack, and in the result with its message', () => {
    const logged: unknown[] = [];
    const log = (event: unknown) => void logged.push(event);
    const error = new Error('broken');
    const withoutStack = Object.assign(new Error('bare'), {stack: undefined});
    const results = [error, withoutStack, 'text'].map(thrown =>
      unexpectedFailure(thrown, 't'.repeat(100), log),
    );
    expect(results.map(({error: {code, message}}) => [code, message])).toEqual([
      ['internal', 'Unexpected error: broken. Please report it.'],
      ['internal', 'Unexpected error: bare. Please report it.'],
      ['internal', 'Unexpected error: text. Please report it.'],
    ]);
    const line = {level: 'error', event: 'tool_call_crashed', error_code: 'internal', tool: 't'.repeat(64)};
    expect(logged).toEqual([
      {...line, message: error.stack},
      {...line, message: 'bare'},
      {...line, message: 'Unexpected error: text. Please report it.'},
    ]);
  });
});
