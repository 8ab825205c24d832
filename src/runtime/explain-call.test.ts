import {readdir} from 'node:fs/promises';
import {describe, expect, test} from 'vitest';
import {openTestRuntime, tempDirectory, toolOf, writeNoteTool} from '../../test/support/open-test-runtime.ts';
import {fail} from '../core/failure/fail.ts';
import {ok} from '../core/result.ts';
import type {Tool, ToolContext} from '../core/tool.ts';
import {explainCall} from './explain-call.ts';

test('policy: explain says what would be decided, and does nothing', async () => {
  const where = await tempDirectory();
  const {runtime, events} = await openTestRuntime({
    tools: [writeNoteTool(where)],
    approval: {allowlist: ['write_file']},
  });
  const before = await events();
  expect(await explainCall('write_note', {path: 'a.txt', text: 'hello'}, runtime)).toMatchObject({
    ok: true,
    value: {
      intent: {summary: 'write_note a.txt', fileHashes: {'a.txt': expect.any(String)}},
      verdict: {
        decision: 'allow',
        by: 'tools.approval.allowlist',
        overruled: [{decision: 'ask', by: 'tools.approval.mode'}],
      },
    },
  });
  expect(await explainCall('write_note', {}, runtime)).toMatchObject({
    ok: false,
    error: {code: 'invalid_params'},
  });
  expect(await explainCall('nope', {}, runtime)).toMatchObject({
    ok: false,
    error: {code: 'unknown_tool'},
  });
  expect([await readdir(where), await events()]).toEqual([[], before]);
});

describe('explain', () => {
  /** What the intent of a call is worked out with. */
  async function contextOf(): Promise<ToolContext> {
    let given: ToolContext | undefined;
    const looks: Tool = {
      ...toolOf('looks', async () => 1),
      prepare: () =>
        ok({
          timeoutMs: 1000,
          outline: {},
          intend: async context => {
            given = context;
            return ok({subject: {kind: 'path', values: ['.']}, summary: 's', preview: 'p', fileHashes: {}});
          },
          execute: async () => ok({data: 1, fields: {}}),
        }),
    };
    const {runtime} = await openTestRuntime({tools: [looks]});
    expect((await explainCall('looks', {}, runtime)).ok).toBe(true);
    if (given === undefined) throw new Error('Expected the intent to be worked out');
    return given;
  }

  test('an intent is worked out without a run: nothing is reached, saved or said', async () => {
    const context = await contextOf();
    expect(context).toMatchObject({
      requestId: 'explain',
      step: 0,
      maxOutputBytes: Number.POSITIVE_INFINITY,
      availableCapacityBytes: Number.POSITIVE_INFINITY,
      allowTruncation: true,
    });
    expect(context.sessionSignal).toBe(context.signal);
    expect(context.mayReach('a.example')).toEqual({
      allowed: false,
      reason: 'Nothing is fetched to explain a call.',
    });
    expect(await context.pastChanges()).toEqual({ok: true, value: {directory: '', changes: []}});
    expect(await context.artifacts.list('calls')).toEqual({ok: true, value: []});
    expect(await context.artifacts.open('a')).toEqual({ok: true, value: undefined});
    expect(await context.artifacts.trim('a', 1)).toEqual({ok: true, value: undefined});
    expect(await context.emit('x', {})).toBeUndefined();
    expect(context.progress('x')).toBeUndefined();
    await expect(context.saveArtifact('a/b', '')).rejects.toThrow(
      'Working out an intent must not save anything.',
    );
    expect(() => context.streamArtifact('a/b', 1)).toThrow('Working out an intent must not save anything.');
  });

  test('what the tool says against the call is the answer', async () => {
    const refuses: Tool = {
      ...toolOf('refuses', async () => 1, {action: 'run'}),
      prepare: () =>
        ok({
          timeoutMs: 1000,
          outline: {},
          intend: async () => fail('file_not_found', 'No such file.', {path: 'a'}),
          execute: async () => ok({data: 1, fields: {}}),
        }),
    };
    const {runtime} = await openTestRuntime({tools: [refuses]});
    expect(await explainCall('refuses', {}, runtime)).toMatchObject({
      ok: false,
      error: {code: 'file_not_found', message: 'No such file.'},
    });
  });

  test('a dry run is explained as what only reads', async () => {
    const dry: Tool = {
      ...toolOf('dry', async () => 1, {action: 'write_file'}),
      prepare: () =>
        ok({
          timeoutMs: 1000,
          outline: {},
          intend: async () =>
            ok({subject: {kind: 'path', values: []}, summary: '', preview: '', fileHashes: {}, dryRun: true}),
          execute: async () => ok({data: 1, fields: {}}),
        }),
    };
    const {runtime} = await openTestRuntime({tools: [dry]});
    expect(await explainCall('dry', {}, runtime)).toMatchObject({value: {verdict: {by: 'read-only'}}});
  });
});
