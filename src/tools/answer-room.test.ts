import {existsSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {callWorkspaceTools} from '../../test/support/call-workspace-tools.ts';
import {openSandbox, runOptions} from '../../test/support/open-sandbox.ts';
import {openTestRuntime} from '../../test/support/open-test-runtime.ts';
import {readTree} from '../../test/support/read-tree.ts';
import {runTool} from './run/run.ts';

const LEAST = {availableCapacityBytes: 1024};
const RUN = {
  sandbox: 'none',
  allow_insecure_none: true,
  timeout_seconds: 10,
  max_timeout_seconds: 20,
} as const;

/** `run`, in a run of its own that allows everything. */
async function openRun() {
  const {sandbox, workspace, close} = openSandbox({settings: RUN});
  onTestFinished(() => close());
  const {call} = await openTestRuntime({
    tools: [runTool(sandbox, runOptions(RUN))],
    approval: {mode: 'auto'},
  });
  return {workspace, call};
}

describe('W19: a change is not made where there is no room for its answer', () => {
  const patch = '--- a/f.txt\n+++ b/f.txt\n@@ -1 +1 @@\n-one\n+1\n';

  test.each([
    ['str_replace', {path: 'f.txt', old_string: 'one', new_string: '1'}],
    ['write_file', {path: 'f.txt', content: '1\n'}],
    ['apply_patch', {unified_diff: patch}],
  ])('W19: %s is refused before anybody is asked', async (tool, params) => {
    const asked: string[] = [];
    const approver = {
      ask: async ({summary}: {summary: string}) => {
        asked.push(summary);
        return {answer: 'once'} as const;
      },
    };
    const place = await callWorkspaceTools({'f.txt': 'one\n'}, {approval: {mode: 'prompt'}, approver});
    await place.data('read_file', {path: 'f.txt'});
    for (const limit of [{availableCapacityBytes: 0}, {availableCapacityBytes: 1023}, {maxOutputBytes: 50}]) {
      const {error} = await place.call(tool, params, limit);
      expect(error).toMatchObject({error_type: 'internal', details: {retryable: false}});
      expect(error?.message).toMatch(`${tool} was not run: `);
    }
    expect(readFileSync(join(place.root, 'f.txt'), 'utf8')).toBe('one\n');
    expect(asked).toEqual([]);
    expect((await place.call(tool, params, LEAST)).status).toBe('success');
  });

  test('W19: nor is a command run', async () => {
    const {workspace, call} = await openRun();
    const {error} = await call('run', {command: 'touch made'}, {availableCapacityBytes: 1023});
    expect(error?.message).toMatch('run was not run: ');
    expect(existsSync(join(workspace, 'made'))).toBe(false);
  });
});

describe('W19: the answer to a change fits into the least room', () => {
  test('W19: a patch of 300 files whose names cost most', {tags: 'slow'}, async () => {
    const names = Array.from({length: 300}, (_, at) => `${'\u0001'.repeat(200)}${at}`);
    const sections = names.map(name => {
      const quoted = `"b/${name.replaceAll('\u0001', '\\001')}"`;
      return `--- /dev/null\n+++ ${quoted}\n@@ -0,0 +1 @@\n+x\n`;
    });
    const place = await callWorkspaceTools({});
    const {error, data} = await place.call('apply_patch', {unified_diff: sections.join('')}, LEAST);
    expect(error).toBeNull();
    expect(data).toMatchObject({truncated: true});
    expect(Object.keys(readTree(place.root))).toHaveLength(300);
  });

  test.each(['str_replace', 'write_file'])('W19: %s with a name and a content that cost most', async tool => {
    const path = '\u0001'.repeat(40);
    const place = await callWorkspaceTools({[path]: '\u0001\r\n'});
    await place.data('read_file', {path});
    const params =
      tool === 'write_file'
        ? {path, content: '\u0002\n'}
        : {path, old_string: '\u0001', new_string: '\u0002\n'};
    expect((await place.call(tool, params, LEAST)).error).toBeNull();
  });

  test('W19: a command with output that costs most', async () => {
    const {call} = await openRun();
    const bytes = '\\001'.repeat(40);
    const command = `sleep 100 & printf '${bytes}'; printf '${bytes}' >&2`;
    const {error, data} = await call('run', {command}, LEAST);
    expect(error).toBeNull();
    expect(data).toMatchObject({exit_code: 0, stdout_bytes: 40, stderr_bytes: 40});
  });
});
