import {spawnSync} from 'node:child_process';
import {readFileSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {rgPath} from '@vscode/ripgrep';
import {describe, expect, test} from 'vitest';
import {callWorkspaceTools} from '../../test/support/call-workspace-tools.ts';
import {openTestWorkspace} from '../../test/support/open-test-workspace.ts';
import {systemClock} from '../core/clock.ts';
import type {Json} from '../core/json.ts';
import {nodeProcessRunner} from '../workspace/process/node-process-runner.ts';
import type {ProcessRunner} from '../workspace/process/process-runner.ts';

const FILES = {
  'a.txt': 'one\ntwo\nthree\nfour\n',
  'b/c.txt': 'abc a.c\n',
  '.git/HEAD': 'ref: refs/heads/main\n',
};
const PATCH = '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+ONE\n';

describe('calls', () => {
  test('TA-CALL-1 TA-CALL-2 TA-CALL-3 a result repeats id and tool and has every field', async () => {
    const {call} = await callWorkspaceTools(FILES);
    for (const [tool, params] of [
      ['list_files', {}],
      ['read_file', {path: 'none'}],
    ] as const) {
      const result = await call(tool, params);
      expect(Object.keys(result).sort()).toEqual(
        [
          ...['request_id', 'tool', 'status', 'started_at', 'ended_at', 'duration_sec', 'data', 'error'],
          ...['exit_code', 'stdout_path', 'stderr_path'],
        ].sort(),
      );
      expect(result).toMatchObject({tool, exit_code: null, stdout_path: null, stderr_path: null});
    }
  });

  test('TA-EVENT-1 TA-EVENT-2 each call is written when it starts and when it ends', async () => {
    const {call, runtime} = await callWorkspaceTools(FILES);
    const {request_id} = await call('read_file', {path: 'a.txt'});
    await call('read_file', {path: 'none'});
    const events = (await runtime.events()).filter(({event}) => event.startsWith('tool_call_'));
    expect(events.map(({event, payload}) => [event, payload['status']])).toEqual([
      ['tool_call_started', undefined],
      ['tool_call_finished', 'success'],
      ['tool_call_started', undefined],
      ['tool_call_finished', 'error'],
    ]);
    expect(events[0]?.payload).toMatchObject({request_id, tool: 'read_file', params: {path: 'a.txt'}});
    expect(events[1]?.payload).toMatchObject({
      request_id,
      tool: 'read_file',
      duration_sec: expect.any(Number),
    });
  });
});

describe('reading', () => {
  test('TA-LIST-1 TA-LIST-2 TA-LIST-3 TA-LIST-4 files below root, sorted, without .git and links', async () => {
    const {data, root} = await callWorkspaceTools(FILES);
    symlinkSync('a.txt', join(root, 'link.txt'));
    symlinkSync('b', join(root, 'linked'));
    expect((await data('list_files'))['files']).toEqual(['a.txt', 'b/c.txt']);
    expect((await data('list_files', {root: 'b'}))['files']).toEqual(['c.txt']);
    expect((await data('list_files', {glob: '*.md'}))['files']).toEqual([]);
  });

  test.each([
    [{}, 'one\ntwo\nthree\nfour\n', 1, 4],
    [{start_line: 1, end_line: 1}, 'one\n', 1, 1],
    [{start_line: 2, end_line: 3}, 'two\nthree\n', 2, 3],
    [{start_line: 4}, 'four\n', 4, 4],
    [{end_line: 2}, 'one\ntwo\n', 1, 2],
  ])(
    'TA-READ-1 TA-READ-3 of %j both ends are in the answer, counted from 1',
    async (range, content, from, to) => {
      const {data} = await callWorkspaceTools(FILES);
      expect(await data('read_file', {path: 'a.txt', ...range})).toMatchObject({
        content,
        truncated: false,
        total_lines: 4,
        start_line: from,
        end_line: to,
      });
    },
  );

  test('TA-SEARCH-1 TA-SEARCH-6 a query is text in any case, and a pattern only on request', async () => {
    const {data} = await callWorkspaceTools({'a.txt': 'abc\na.c\nA.C\n'});
    const linesOf = async (params: {[name: string]: Json}) => {
      const {matches} = await data('search', params);
      return (matches as readonly {readonly line: number}[]).map(({line}) => line);
    };
    expect(await linesOf({query: 'a.c'})).toEqual([2, 3]);
    expect(await linesOf({query: 'a.c', is_regex: true})).toEqual([1, 2, 3]);
    expect(await linesOf({query: 'a.c', glob: '*.md'})).toEqual([]);
  });

  test('TA-SEARCH-5 search asks ripgrep', async () => {
    const real = nodeProcessRunner(systemClock);
    const asked: string[] = [];
    const processes: ProcessRunner = {
      run: request => {
        asked.push(request.command);
        return real.run(request);
      },
    };
    const workspace = await openTestWorkspace(FILES, {processes});
    const {call} = await callWorkspaceTools({}, {workspace});
    expect(await call('search', {query: 'one'})).toMatchObject({status: 'success'});
    expect(asked[0]).toMatch(/\/rg(?:\.exe)?$/);
  });

  test.each(['*.txt', '**/*.md', 'd/**', '/a*', '{a,b}.*', '!*.txt'])(
    'ADR-GLOB-1 glob %s finds what rg --files -g finds',
    async pattern => {
      const files = {'a.txt': '', 'b.md': '', 'd/a.txt': '', 'd/e/c.md': '', 'd/.hidden.txt': ''};
      const {data, root} = await callWorkspaceTools(files);
      const listed = spawnSync(rgPath, ['--files', '--hidden', '--no-ignore', '-g', pattern], {
        cwd: root,
        encoding: 'utf8',
      });
      const expected = listed.stdout.split('\n').filter(Boolean).sort();
      expect((await data('glob', {pattern}))['files']).toEqual(expected);
    },
  );
});

describe('changing', () => {
  test.each(['a/', 'b/', 'i/', 'w/'])('TA-PATCH-2 the prefix %s of a path is stripped', async part => {
    const {data, root} = await callWorkspaceTools(FILES);
    const unified_diff = PATCH.replace('--- a/', `--- ${part}`).replace('+++ b/', `+++ ${part}`);
    expect(await data('apply_patch', {unified_diff})).toMatchObject({
      changed_files: ['a.txt'],
      patch_size_bytes: unified_diff.length,
    });
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('ONE\ntwo\nthree\nfour\n');
  });

  test.each(['', 'old/'])('TA-PATCH-2 %j is no prefix that a diff has', async prefix => {
    const {code} = await callWorkspaceTools(FILES);
    const unified_diff = PATCH.replace('a/', prefix).replace('b/', prefix);
    expect(await code('apply_patch', {unified_diff})).toBe('patch_parse_error');
  });

  test('TA-PATCH-4 TA-PATCH-5 a patch is kept as it was sent, and its event names the step', async () => {
    const {call, runtime, runDirectory} = await callWorkspaceTools(FILES);
    await call('list_files');
    expect(await call('apply_patch', {unified_diff: PATCH})).toMatchObject({status: 'success'});
    expect(readFileSync(join(runDirectory, 'diffs/step_0002.patch'), 'utf8')).toBe(PATCH);
    const applied = (await runtime.events()).filter(({event}) => event === 'PATCH_APPLIED');
    expect(applied).toHaveLength(1);
  });

  test('ADR-STR-1 ADR-STR-2 ADR-STR-4 one literal place of a file that was read', async () => {
    const {code, root} = await callWorkspaceTools(FILES);
    const replace = (old_string: string) =>
      code('str_replace', {path: 'b/c.txt', old_string, new_string: 'new'});
    expect(await replace('a.c')).toBe('not_read');
    expect(await code('read_file', {path: 'b/c.txt'})).toBe('ok');
    expect(await replace('a.')).toBe('ok');
    expect(readFileSync(join(root, 'b/c.txt'), 'utf8')).toBe('abc newc\n');
    expect(await replace('a.c')).toBe('no_match');
    expect(await replace('c')).toBe('ambiguous_match');
  });
});

describe('containment', () => {
  test.each<readonly [string, (path: string) => {[name: string]: Json}]>([
    ['list_files', root => ({root})],
    ['read_file', path => ({path})],
    ['write_file', path => ({path, content: 'x'})],
    ['str_replace', path => ({path, old_string: 'one', new_string: 'x'})],
    ['apply_patch', path => ({unified_diff: `--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-one\n+x\n`})],
  ])('TA-SEC-1 TA-SEC-2 ADR-WORK-1 %s stays inside, and follows no link', async (tool, params) => {
    const {code, root, outside} = await callWorkspaceTools(FILES);
    writeFileSync(join(outside, 'secret.txt'), 'one\n');
    symlinkSync(outside, join(root, 'out'));
    symlinkSync(join(outside, 'secret.txt'), join(root, 'secret.txt'));
    expect(await code(tool, params('../work2/secret.txt'))).toBe('path_escape');
    expect(await code(tool, params('b/../../work2/secret.txt'))).toBe('path_escape');
    for (const linked of ['out/secret.txt', 'secret.txt']) {
      expect([linked, await code(tool, params(linked))]).toEqual([linked, 'symlink_blocked']);
    }
    expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('one\n');
  });
});
