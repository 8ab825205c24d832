import {readdir} from 'node:fs/promises';
import {expect, test} from 'vitest';
import {openTestRuntime, tempDirectory, writeNoteTool} from '../../test/support/open-test-runtime.ts';
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
