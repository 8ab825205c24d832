import {expect, test} from 'vitest';
import type {Json} from '../core/json.ts';
import type {ToolError, ToolResult} from '../core/tool.ts';
import {presentResult} from './present-result.ts';

const result = (tool: string, data: Json, error: ToolError | null = null): ToolResult => ({
  request_id: '1',
  tool,
  status: error === null ? 'success' : 'error',
  started_at: '2025-01-01T00:00:00.000Z',
  ended_at: '2025-01-01T00:00:00.000Z',
  duration_sec: 0,
  data,
  error,
  exit_code: null,
  stdout_path: null,
  stderr_path: null,
});
const textOf = (shown: ToolResult, render: (shown: ToolResult) => string = String): string => {
  const [block] = presentResult(shown, render).content;
  return block?.type === 'text' ? block.text : '';
};

test('ruling H1 the envelope takes retryable out of the details, or from the table', () => {
  const envelope = (details: ToolError['details']) =>
    JSON.parse(textOf(result('web_fetch', null, {error_type: 'timeout', message: 'm', details})));
  expect(envelope({phase: 'dns', retryable: false})).toEqual({
    code: 'timeout',
    message: 'm',
    retryable: false,
    details: {phase: 'dns'},
  });
  expect(envelope(null)).toMatchObject({retryable: true, details: {}});
});

test('ruling H6 web_fetch with text output answers with the text alone', () => {
  expect(presentResult(result('web_fetch', 'plain'), ({data}) => String(data))).toEqual({
    content: [{type: 'text', text: 'plain'}],
  });
});

test('policy: text stays below 40,000 characters, structuredContent is whole', () => {
  const data = {content: 'x'.repeat(50_000)};
  const shown = result('read_file', data);
  expect(textOf(shown, () => data.content).length).toBeLessThanOrEqual(40_000);
  expect(presentResult(shown, String).structuredContent).toMatchObject({data});
});
