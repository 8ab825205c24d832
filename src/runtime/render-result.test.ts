import {describe, expect, test} from 'vitest';
import {echoTool, toolOf} from '../../test/support/open-test-runtime.ts';
import type {ToolError, ToolResult} from '../core/tool.ts';
import {renderResult} from './render-result.ts';

const fetching = toolOf('web_fetch', async () => null, {badParams: 'bad_args'});

function resultOf(part: Pick<ToolResult, 'data'> | {readonly error: ToolError}): ToolResult {
  return {
    request_id: 'r',
    tool: 'echo',
    status: 'error' in part ? 'error' : 'success',
    started_at: '2026-01-01T00:00:00.000Z',
    ended_at: '2026-01-01T00:00:00.000Z',
    duration_sec: 0,
    data: null,
    error: null,
    exit_code: null,
    stdout_path: null,
    stderr_path: null,
    ...part,
  };
}

function failed(message: string, details: ToolError['details']): string {
  return renderResult(resultOf({error: {error_type: 'io_error', message, details}}), echoTool);
}

describe('ruling H2: an answer as text', () => {
  test('is what the tool makes of it, and JSON where there is no such tool', () => {
    const result = resultOf({data: {texts: ['a', 'b'], truncated: false}});
    expect(renderResult(result, echoTool)).toBe('a\nb');
    expect(renderResult(result, undefined)).toBe('{"texts":["a","b"],"truncated":false}');
  });
});

describe('FR-ERR-JSON-01: a failed fetch is its bare envelope', () => {
  test.each([
    [{retryable: true, url: 'https://a.example/'}, true, {url: 'https://a.example/'}],
    [{retryable: false}, false, {}],
    [{retryable: 'true'}, false, {}],
    [null, false, {}],
  ])('details %j', (details, retryable, rest) => {
    const error: ToolError = {error_type: 'timeout', message: 'Too slow.', details};
    expect(JSON.parse(renderResult(resultOf({error}), fetching))).toEqual({
      code: 'timeout',
      message: 'Too slow.',
      retryable,
      details: rest,
    });
  });
});

describe('ruling H2: a failure of the others is a sentence, and what it leaves out', () => {
  test.each<[string, string, ToolError['details'], string]>([
    ['nothing more', 'No.', null, 'io_error: No.'],
    ['no details', 'No.', {}, 'io_error: No.'],
    ['that it may be retried', 'No.', {retryable: true}, 'io_error: No. (may work when retried)'],
    ['that it may not', 'No.', {retryable: false}, 'io_error: No.'],
    ['no word for retrying', 'No.', {retryable: 'true'}, 'io_error: No.'],
    [
      'nothing for programs',
      'No.',
      {error: 'ENOENT', field: 'path', reason: 'odd', validation: 'path: odd', operation: 'read'},
      'io_error: No.',
    ],
    ['a text that is said', 'No file "a.txt".', {path: 'a.txt'}, 'io_error: No file "a.txt".'],
    ['a text that is quoted', 'No file "a\\"b".', {path: 'a"b'}, 'io_error: No file "a\\"b".'],
    ['a text that is escaped', 'Not a\\"b.', {path: 'a"b'}, 'io_error: Not a\\"b.'],
    ['a text that is not said', 'No.', {path: 'a.txt'}, 'io_error: No.\n{"path":"a.txt"}'],
    ['a number that is said', 'It has 12 lines.', {lines: 12}, 'io_error: It has 12 lines.'],
    ['one with separators', 'It has 1,234,567 bytes.', {bytes: 1234567}, 'io_error: It has 1,234,567 bytes.'],
    ['one with others', 'At 1,23 it ends.', {at: 123}, 'io_error: At 1,23 it ends.\n{"at":123}'],
    ['one behind letters', 'At x,234 it ends.', {at: 'x234'}, 'io_error: At x,234 it ends.\n{"at":"x234"}'],
    ['a number that is not said', 'No.', {lines: 7}, 'io_error: No.\n{"lines":7}'],
    ['a truth', 'No.', {is_binary: false}, 'io_error: No.'],
    ['nothing', 'No.', {path: null}, 'io_error: No.'],
    ['a list that is said', 'Only a and b.', {names: ['a', 'b']}, 'io_error: Only a and b.'],
    ['a list said in part', 'Only a.', {names: ['a', 'z']}, 'io_error: Only a.\n{"names":["a","z"]}'],
    [
      'an object said in part',
      'Line 3.',
      {at: {line: 3, column: 9}},
      'io_error: Line 3.\n{"at":{"line":3,"column":9}}',
    ],
    [
      'some of several',
      'Only a.',
      {retryable: true, name: 'a', other: 'z', error: 'x', more: [1]},
      'io_error: Only a. (may work when retried)\n{"other":"z","more":[1]}',
    ],
  ])('%s', (_, message, details, expected) => {
    expect(failed(message, details)).toBe(expected);
  });

  test('a failure of a tool that is not known is a sentence too', () => {
    const error: ToolError = {error_type: 'unknown_tool', message: 'No "x".', details: {tool: 'x'}};
    expect(renderResult(resultOf({error}), undefined)).toBe('unknown_tool: No "x".');
  });
});
