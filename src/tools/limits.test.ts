import {existsSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {callWorkspaceTools} from '../../test/support/call-workspace-tools.ts';
import {createManualClock} from '../../test/support/manual-clock.ts';
import {openSandbox, runOptions} from '../../test/support/open-sandbox.ts';
import {openTestRuntime} from '../../test/support/open-test-runtime.ts';
import {openTestWorkspace} from '../../test/support/open-test-workspace.ts';
import {readTree} from '../../test/support/read-tree.ts';
import {resolveConfig} from '../config/resolve-config.ts';
import {fail, type Json} from '../core/result.ts';
import {runTool} from './run/run.ts';
import {webFetchTool} from './web/web-fetch.ts';

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
      expect(error).toMatchObject({error_type: 'internal', retryable: false});
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
  test('W19: a patch of 300 files whose names cost most', {tags: 'stress'}, async () => {
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

const FILES = Object.fromEntries(
  Array.from({length: 60}, (_, at) => [
    `"quoted"/${'deep \u{1f600}/'.repeat(at % 7)}file-${at}.txt`,
    `${'"\u0001\t'.repeat(at * 5)} match\n`.repeat(20),
  ]),
);

// Review 15.10: the runtime's cut knows no line and no entry; `truncated` of the event says that it was needed.
test.each<[string, {readonly [name: string]: Json}]>([
  ['list_files', {}],
  ['glob', {pattern: '**/*.txt'}],
  ['search', {query: 'match', max_results: 1000, context_lines: 10}],
  ['read_file', {path: '"quoted"/deep \u{1f600}/deep \u{1f600}/deep \u{1f600}/file-59.txt'}],
])(
  'review 15.10: %s cuts by itself, between entries, whatever room there is',
  {tags: 'slow'},
  async (tool, params) => {
    const {call, runtime} = await callWorkspaceTools(FILES);
    for (const maxOutputBytes of [1024, 1500, 3000, 10_000, 30_000]) {
      const {data, error} = await call(tool, params, {maxOutputBytes});
      expect(error).toBeNull();
      expect(Buffer.byteLength(JSON.stringify(data))).toBeLessThanOrEqual(maxOutputBytes);
      expect(JSON.stringify(data)).not.toContain('output truncated');
    }
    const ends = (await runtime.events()).filter(({event}) => event === 'tool_call_finished');
    expect(ends.map(({payload}) => payload['truncated'])).toEqual(Array(5).fill(false));
  },
);

test.each<[string, {readonly [name: string]: Json}, RegExp]>([
  ['list_files', {}, /^\[(\d+) files more; narrow root or glob, or set depth, to see the others\]$/],
  ['glob', {pattern: '**/*.txt'}, /^\[the first (\d+) files; narrow pattern or root to see the others\]$/],
  [
    'search',
    {query: 'match', glob: 'file-1.txt', max_results: 1000},
    /^\[(\d+) of 20 matches; raise max_results, or narrow query, glob or path, to see the others;/,
  ],
])(
  'ruling W17: the text of %s ends with a line that says how to go on, where it was cut alone',
  async (tool, params, said) => {
    const {call, tool: named} = await callWorkspaceTools(FILES);
    const textOf = async (maxOutputBytes: number) => {
      const {data} = await call(tool, params, {maxOutputBytes});
      if (data === null) throw new Error('Expected an answer');
      const entries = Object.values(data).find(Array.isArray) ?? [];
      return {lines: named(tool).renderText(data).split('\n'), entries: entries.length};
    };
    // Not a single match of the first file fits: that is said too.
    const cut = await textOf(2000);
    const [, shown] = said.exec(cut.lines.at(-1) ?? '') ?? [];
    expect(Number(shown)).toBe(tool === 'list_files' ? 60 - cut.entries : cut.entries);
    const whole = await textOf(1_000_000);
    expect(whole.lines.filter(line => line.includes('to see the others'))).toEqual([]);
  },
);

const DIFF = '--- a/f\n+++ b/f\n@@ -1 +1 @@\n-one\n+two\n';

// Every look at the tree takes as long as the test says, on a clock that nobody else moves.
test.each<[string, {readonly [name: string]: Json}, number]>([
  ['list_files', {}, 30_000],
  ['glob', {pattern: '*'}, 30_000],
  ['read_file', {path: 'f'}, 10_000],
  ['search', {query: 'one'}, 60_000],
  ['apply_patch', {unified_diff: DIFF}, 10_000],
])(
  'TA-LIST-7 TA-READ-5 TA-SEARCH-9 TA-PATCH-7 Tool API, time-outs: %s ends at its limit, and not a millisecond before',
  async (tool, params, limit) => {
    const codeAfter = async (ms: number) => {
      const clock = createManualClock();
      const place = await openTestWorkspace({f: 'one\n'}, {clock});
      const {workspace} = place.session;
      let left = ms;
      const slowly = <Args extends readonly unknown[], Value>(look: (...args: Args) => Value) => {
        return (...args: Args): Value => {
          clock.advance(left);
          left = 0;
          return look(...args);
        };
      };
      const slow = {
        ...workspace,
        inspect: slowly(workspace.inspect),
        openFile: slowly(workspace.openFile),
        openDirectory: slowly(workspace.openDirectory),
      };
      const session = {...place.session, workspace: slow};
      const {call} = await callWorkspaceTools({}, {workspace: {...place, session}});
      const {error} = await call(tool, params);
      if (error !== null) expect(error.details).toMatchObject({timeout_ms: limit});
      return error?.error_type ?? 'ok';
    };
    expect(await codeAfter(limit - 1)).toBe('ok');
    expect(await codeAfter(limit)).toBe('timeout');
  },
);

describe('FR-WF-TIMEOUT-01 the host waits longer than all budgets inside web_fetch', () => {
  test.each([
    // Twice, as robots.txt has the same time for itself (ruling B2), then 5 s for the page and 2 s more.
    [20, {network_idle_ms: 20_000, enabled: false}, 67_000],
    [1, {network_idle_ms: 1000, enabled: false}, 10_000],
    [300, {network_idle_ms: 120_000, enabled: false}, 727_000],
    // Review R13: a call may have to wait for its turn with the browser.
    [20, {network_idle_ms: 20_000}, 127_000],
    [20, {network_idle_ms: 20_000, max_wait_seconds: 1}, 68_000],
  ])('timeout_seconds %i and browser %j: %i ms', (timeout_seconds, browser, expected) => {
    const surroundings = {env: {}, cwd: '/', tempDir: '/tmp'};
    const written = {tools: {webfetch: {timeout_seconds, browser}}};
    const resolved = resolveConfig(written, surroundings);
    if (!resolved.ok) throw new Error(resolved.error.join('\n'));
    const {webfetch} = resolved.value.config.tools;
    const tool = webFetchTool(async () => fail('internal', 'Nothing is fetched here.'), webfetch);
    expect(tool.prepare({url: 'https://example.com/'})).toMatchObject({value: {timeoutMs: expected}});
  });
});
