import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {echoTool, openTestRuntime, toolOf} from '../../test/support/open-test-runtime.ts';
import {fail} from '../core/failure/fail.ts';
import type {Json} from '../core/json.ts';
import {ok} from '../core/result.ts';
import {verifyLog} from './events/verify-log.ts';
import {executeCall} from './execute-call.ts';

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

  test('ruling H1 details carry retryable', async () => {
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
      message: 'No.',
      details: {blocked_ip: '10.0.0.1', retryable: false},
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
      details: {
        field: 'text',
        reason: expect.any(String),
        validation: expect.stringMatching(/^text: /),
        retryable: false,
      },
    });
    expect((await call('echo', {text: 'a', size: 1})).error).toMatchObject({
      error_type: 'invalid_params',
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
      message: 'tool_output_limit',
      details: {error: 'tool_output_limit', max_bytes: 1500, retryable: false},
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
