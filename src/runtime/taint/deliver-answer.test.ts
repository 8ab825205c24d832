import {expect, test} from 'vitest';
import {everyTool} from '../../../test/support/every-tool.ts';
import {openTestRuntime, toolOf} from '../../../test/support/open-test-runtime.ts';
import {FAILURE_CODES, type FailureCode} from '../../core/failure-codes.ts';
import {fail, ok} from '../../core/result.ts';
import type {Intent, Tool} from '../../core/tool.ts';

const CODES = Object.keys(FAILURE_CODES) as FailureCode[];

const INTENT: Intent = {
  subject: {kind: 'path', values: ['a']},
  summary: 'look at a',
  preview: '',
  fileHashes: {},
};

/** The tool, failing with text of a file or a server when it plans, when it acts, or by a bug. */
function failing(tool: Tool, at: 'plan' | 'act' | 'bug', code: FailureCode): Tool {
  const failure = fail(code, `${tool.name}: line 1 is "${at} ${code}"`);
  return {
    ...tool,
    action: undefined,
    prepare: () =>
      ok({
        timeoutMs: 1000,
        outline: {},
        intend: async () => (at === 'plan' ? failure : ok(INTENT)),
        execute: async () => {
          if (at === 'bug') throw new Error(failure.error.message);
          return failure;
        },
      }),
  };
}

test('red team F1, F3: every failure of every tool is recorded that may hold text of files, servers or commands', async () => {
  const real = await everyTool();
  expect(real.length).toBeGreaterThan(15);
  const expected = new Map<string, string | undefined>();
  const tools: Tool[] = [];
  for (const tool of real) {
    const {delivers = 'private'} = tool;
    for (const at of ['plan', 'act', 'bug'] as const) {
      for (const code of at === 'bug' ? (['internal'] as const) : CODES) {
        const name = `${tool.name}_${at}_${code}`;
        tools.push({...failing(tool, at, code), name});
        // A plan asks no server.
        expected.set(name, at === 'plan' && delivers === 'untrusted' ? undefined : delivers);
      }
    }
  }
  const {call, events} = await openTestRuntime({tools, taint: {mode: 'enforce'}});
  for (const {name} of tools) expect((await call(name)).status).toBe('error');
  const recorded = new Map(
    (await events())
      .filter(({event}) => event === 'taint_delivered')
      .map(({payload}) => [payload['tool'], payload['kind']]),
  );
  for (const [name, kind] of expected) expect([name, recorded.get(name)]).toEqual([name, kind]);
});

test('red team F1: what policy and person say of a call is recorded as nobody’s text', async () => {
  const tool = toolOf('write', async () => 1, {action: 'write_file'});
  for (const approval of [{denylist: ['write']}, {}]) {
    const {call, events} = await openTestRuntime({tools: [tool], approval, taint: {mode: 'enforce'}});
    expect((await call('write')).error?.error_type).toMatch(/^approval_/);
    expect((await events()).filter(({event}) => event === 'taint_delivered')).toEqual([]);
  }
});

test('a text is known by the file that it is from, not by the call that read it', async () => {
  const tools = await everyTool({'m.txt': 'one\n'});
  const {call, events} = await openTestRuntime({tools, taint: {mode: 'warn'}});
  expect((await call('read_file', {path: 'm.txt'})).status).toBe('success');
  const [delivered] = (await events()).filter(({event}) => event === 'taint_delivered');
  expect(delivered?.payload).toMatchObject({kind: 'private', origin: 'm.txt'});
});
