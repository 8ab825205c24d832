import {describe, expect, test} from 'vitest';
import {callWorkspaceTools} from '../../test/support/call-workspace-tools.ts';
import {createManualClock} from '../../test/support/manual-clock.ts';
import {openTestWorkspace} from '../../test/support/open-test-workspace.ts';
import {resolveConfig} from '../config/resolve/resolve-config.ts';
import {fail} from '../core/failure/fail.ts';
import type {Json} from '../core/json.ts';
import {jailedFileSystem} from '../workspace/jail/jailed-file-system.ts';
import {webFetchTool} from './web/web-fetch.ts';

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
      const session = {...place.session, workspace: slow, files: jailedFileSystem(slow)};
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
