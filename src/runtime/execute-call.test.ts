import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {echoTool, openTestRuntime, toolOf} from '../../test/support/open-test-runtime.ts';
import {type FailureDetails, fail, type Json, ok} from '../core/result.ts';
import {type ToolResult, toolError} from '../core/tool.ts';
import {verifyLog} from './event-log.ts';
import {executeCall, renderResult} from './execute-call.ts';

describe('Tool API', () => {
  test('Tool API: every field of a ToolResult is always there', async () => {
    const {call} = await openTestRuntime();
    const good = await call('echo', {text: 'hi'});
    expect(good).toEqual({
      request_id: expect.stringMatching(/^r\d+$/),
      tool: 'echo',
      status: 'success',
      started_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      ended_at: expect.stringMatching(/Z$/),
      duration_sec: expect.any(Number),
      data: {texts: ['hi'], truncated: false},
      error: null,
      exit_code: null,
      stdout_path: null,
      stderr_path: null,
    });
    const bad = await call('echo', {});
    expect(Object.keys(bad)).toEqual(Object.keys(good));
    expect(bad).toMatchObject({status: 'error', data: null});
  });

  test('Tool API: started and finished are written for every call, whatever becomes of it', async () => {
    const boom = toolOf('boom', async () => {
      throw new Error('broken');
    });
    const {call, events} = await openTestRuntime({tools: [echoTool, boom]});
    await call('echo', {text: 'x'});
    await call('echo', {});
    await call('nope');
    await call('boom');
    const all = await events();
    const of = (event: string) => all.filter(entry => entry.event === event).map(({payload}) => payload);
    expect(of('tool_call_started').map(({step, tool}) => [step, tool])).toEqual([
      [1, 'echo'],
      [2, 'echo'],
      [3, 'nope'],
      [4, 'boom'],
    ]);
    expect(of('tool_call_started')[0]).toMatchObject({request_id: expect.any(String), params: {text: 'x'}});
    expect(of('tool_call_finished').map(({status, error_type}) => [status, error_type])).toEqual([
      ['success', null],
      ['error', 'invalid_params'],
      ['error', 'unknown_tool'],
      ['error', 'internal'],
    ]);
    expect(of('tool_call_finished')[0]).toMatchObject({
      duration_sec: expect.any(Number),
      approval_wait_sec: 0,
    });
  });

  test('ruling H1 an error is the failure, with error_type equal to code', async () => {
    const flaky = toolOf('flaky', async () => 1);
    const failing = {
      ...flaky,
      prepare: () =>
        ok({
          timeoutMs: 1000,
          outline: {},
          intend: async () =>
            ok({subject: {kind: 'path' as const, values: []}, summary: '', preview: '', fileHashes: {}}),
          execute: async () => fail('ssrf_blocked', 'No.', {blocked_ip: '10.0.0.1'}),
        }),
    };
    const {call, events} = await openTestRuntime({tools: [failing]});
    expect((await call('flaky')).error).toEqual({
      error_type: 'ssrf_blocked',
      code: 'ssrf_blocked',
      message: 'No.',
      retryable: false,
      details: {blocked_ip: '10.0.0.1'},
    });
    expect((await events()).find(({event}) => event === 'guard_blocked')?.payload).toMatchObject({
      tool: 'flaky',
      error_type: 'ssrf_blocked',
      details: {blocked_ip: '10.0.0.1'},
    });
  });

  test('policy: an empty request id gets one, another is given back as it came', async () => {
    const ids: string[] = [];
    const tool = toolOf('id', async ({requestId}) => ids.push(requestId));
    const {runtime} = await openTestRuntime({tools: [tool]});
    const empty = await executeCall({tool: 'id', params: {}, request_id: ''}, {}, runtime);
    expect(empty.request_id).toMatch(/^call-[0-9a-f]{16}$/);
    const long = 'x'.repeat(5000);
    expect((await executeCall({tool: 'id', params: {}, request_id: long}, {}, runtime)).request_id).toBe(
      long,
    );
    expect(ids).toEqual([empty.request_id, long]);
  });
});

describe('FR-ERR-JSON-02', () => {
  test('FR-ERR-JSON-02 web_fetch answers bad_args, others invalid_params', async () => {
    const args = {...echoTool, name: 'web_fetch', badParams: 'bad_args' as const};
    const {call} = await openTestRuntime({tools: [echoTool, args]});
    expect((await call('web_fetch', {text: 1})).error).toMatchObject({
      error_type: 'bad_args',
      code: 'bad_args',
      retryable: false,
      details: {
        field: 'text',
        reason: expect.any(String),
        validation: expect.stringMatching(/^text: /),
      },
    });
    expect((await call('echo', {text: 'a', size: 1})).error).toMatchObject({
      error_type: 'invalid_params',
      code: 'invalid_params',
      message: 'There is no parameter "size". Known: text, count.',
    });
  });

  test('policy: hundreds of thousands of unknown parameters are answered at once, and briefly', {
    tags: 'slow',
  }, async () => {
    const {call} = await openTestRuntime({tools: [echoTool]});
    const params = Object.fromEntries(Array.from({length: 200_000}, (_, at) => [`unknown${at}`, 1]));
    const {error} = await call('echo', {text: 'a', ...params});
    expect(error?.message).toMatch(/And 199995 more\. Known: text, count\.$/);
    expect(JSON.stringify(error).length).toBeLessThan(6000);
  });

  test('ruling H2 missing params are {}, null is not', async () => {
    const {call} = await openTestRuntime({tools: [toolOf('any', async () => 1)]});
    expect((await call('any', undefined)).status).toBe('success');
    expect((await call('any', null as never)).error?.error_type).toBe('invalid_params');
    expect((await call('any', [] as never)).error?.error_type).toBe('invalid_params');
  });

  test('policy: parameters nested to the sky are refused without recursion', async () => {
    const {call} = await openTestRuntime({tools: [toolOf('any', async () => 1)]});
    const params = JSON.parse(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`);
    expect((await call('any', params)).error).toMatchObject({
      error_type: 'invalid_params',
      code: 'invalid_params',
      details: {field: 'params'},
    });
  });
});

describe('output limits', () => {
  const big = {text: 'x'.repeat(100), count: 5000};
  const size = (data: Json) => Buffer.byteLength(JSON.stringify(data));

  test('ruling E7 the smaller of both limits counts, and a call cannot raise that of the configuration', async () => {
    const {call, events} = await openTestRuntime({maxOutputBytes: 10_000});
    for (const [options, limit] of [
      [{}, 10_000],
      [{maxOutputBytes: 5000}, 5000],
      [{maxOutputBytes: 50_000}, 10_000],
      [{availableCapacityBytes: 3000}, 3000],
      [{availableCapacityBytes: 50_000, maxOutputBytes: 4000}, 4000],
    ] as const) {
      const {data} = await call('echo', big, options);
      expect(size(data)).toBeLessThanOrEqual(limit);
      expect(size(data)).toBeGreaterThan(limit - 200);
      expect(data).toMatchObject({truncated: true});
    }
    expect((await events()).at(-1)?.payload).toMatchObject({truncated: true});
  });

  test('FR-WF-03a allow_truncation = false: the answer is passed on as it is, or is tool_output_limit', async () => {
    const own = toolOf('own', async context => {
      context.allowTruncation = false;
      return {text: 'x'.repeat(2000)};
    });
    const {call} = await openTestRuntime({tools: [own]});
    expect((await call('own')).data).toEqual({text: 'x'.repeat(2000)});
    expect((await call('own', {}, {maxOutputBytes: 1500})).error).toEqual({
      error_type: 'internal',
      code: 'internal',
      message: 'tool_output_limit',
      retryable: false,
      details: {error: 'tool_output_limit', max_bytes: 1500},
    });
  });
});

describe('1,000 concurrent calls', () => {
  test('Tool API: no cross-talk, each call has its two events, the log verifies', {
    tags: 'slow',
  }, async () => {
    const {call, events, directory} = await openTestRuntime();
    const results = await Promise.all(Array.from({length: 1000}, (_, at) => call('echo', {text: `t${at}`})));
    expect(results.map(({data}) => data)).toEqual(
      results.map((_, at) => ({texts: [`t${at}`], truncated: false})),
    );
    const counts = new Map<string, string[]>();
    const all = await events();
    for (const {event, payload} of all) {
      const id = String(payload['request_id']);
      if (event.startsWith('tool_call')) counts.set(id, [...(counts.get(id) ?? []), event]);
    }
    expect(counts.size).toBe(1000);
    expect([...counts.values()].every(pair => pair.join() === 'tool_call_started,tool_call_finished')).toBe(
      true,
    );
    expect(new Set(results.map(({request_id}) => request_id))).toEqual(new Set(counts.keys()));
    expect(await verifyLog(join(directory, 'events.jsonl'))).toMatchObject({
      ok: true,
      value: {state: 'intact', events: all.length},
    });
  });
});

test('ruling W10 what is written down of a call holds no query, credential or secret', async () => {
  const fetchTool = toolOf('web_fetch', async () => 1, {action: 'web_fetch'});
  const {call, directory} = await openTestRuntime({tools: [fetchTool], approval: {mode: 'auto'}});
  await call('web_fetch', {
    url: 'https://user:SECRET@example.com/path?key=SECRET',
    env: {API_TOKEN: 'SECRET', PATH: '/bin'},
    command: 'curl -H "Authorization: Bearer SECRETSECRET" https://a.org/?SECRET',
    unified_diff: `-----BEGIN PRIVATE KEY-----\nSECRET${'x'.repeat(5000)}`,
  });
  const text = await readFile(join(directory, 'events.jsonl'), 'utf8');
  expect(text).not.toContain('SECRET');
  expect(text).toContain('https://…@example.com/path?…');
  expect(text).toContain('"PATH":"/bin"');
});

const fetching = toolOf('web_fetch', async () => null, {badParams: 'bad_args'});

function resultOf(part: Pick<ToolResult, 'data'> | Pick<ToolResult, 'error'>): ToolResult {
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

function failed(message: string, {retryable = false, ...details}: FailureDetails): string {
  const failure = {...fail('io_error', message).error, retryable: retryable === true, details};
  return renderResult(resultOf({error: toolError(failure)}), echoTool);
}

describe('ruling H2: an answer as text', () => {
  test('is what the tool makes of it, and JSON where there is no such tool', () => {
    const result = resultOf({data: {texts: ['a', 'b'], truncated: false}});
    expect(renderResult(result, echoTool)).toBe('a\nb');
    expect(renderResult(result, undefined)).toBe('{"texts":["a","b"],"truncated":false}');
  });
});

describe('FR-ERR-JSON-01: a failed fetch is its bare envelope', () => {
  test('the failure, without error_type', () => {
    const {error} = fail('timeout', 'Too slow.', {phase: 'dns'});
    expect(renderResult(resultOf({error: toolError(error)}), fetching)).toBe(JSON.stringify(error));
  });
});

describe('ruling H2: a failure of the others is a sentence, and what it leaves out', () => {
  test.each<[string, string, FailureDetails, string]>(
    // biome-ignore format: a case is a line
    [
      ['no details', 'No.', {}, 'io_error: No.'],
      ['that it may be retried', 'No.', {retryable: true}, 'io_error: No. (may work when retried)'],
      ['that it may not', 'No.', {retryable: false}, 'io_error: No.'],
      ['nothing for programs', 'No.', {error: 'ENOENT', field: 'path', reason: 'odd', validation: 'path: odd', operation: 'read'}, 'io_error: No.'],
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
      ['an object said in part', 'Line 3.', {at: {line: 3, column: 9}}, 'io_error: Line 3.\n{"at":{"line":3,"column":9}}'],
      ['some of several', 'Only a.', {retryable: true, name: 'a', other: 'z', error: 'x', more: [1]}, 'io_error: Only a. (may work when retried)\n{"other":"z","more":[1]}'],
    ],
  )('%s', (_, message, details, expected) => {
    expect(failed(message, details)).toBe(expected);
  });

  test('a failure of a tool that is not known is a sentence too', () => {
    const error = toolError(fail('unknown_tool', 'No "x".', {tool: 'x'}).error);
    expect(renderResult(resultOf({error}), undefined)).toBe('unknown_tool: No "x".');
  });
});
