import {spawnSync} from 'node:child_process';
import {chmodSync, readFileSync, symlinkSync, writeFileSync} from 'node:fs';
import {basename, join} from 'node:path';
import {rgPath} from '@vscode/ripgrep';
import {describe, expect, onTestFinished, test} from 'vitest';
import {callWorkspaceTools} from '../../test/support/call-workspace-tools.ts';
import {openSandbox, runOptions} from '../../test/support/open-sandbox.ts';
import {openTestRuntime} from '../../test/support/open-test-runtime.ts';
import {openTestWorkspace} from '../../test/support/open-test-workspace.ts';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {systemClock} from '../core/clock.ts';
import type {Json} from '../core/result.ts';
import {
  nodeProcessRunner,
  type ProcessEnd,
  type ProcessRequest,
  type ProcessRunner,
} from '../workspace/process-runner.ts';
import {type Probe, type ProbeDeps, probeDependencies} from './probe-dependencies.ts';
import {runTool} from './run/run.ts';

type Params = {[name: string]: Json};

const linesOf = (count: number): string => 'match\n'.repeat(count);

describe('bounds of parameters: one below, at, and one above', () => {
  test.each<readonly [string, string, (value: number) => Params, readonly (readonly [number, string])[]]>([
    [
      'TA-SEARCH-2 context_lines is 0 to 10',
      'search',
      context_lines => ({query: 'match', context_lines}),
      [
        [-1, 'invalid_params'],
        [0, 'ok'],
        [1, 'ok'],
        [9, 'ok'],
        [10, 'ok'],
        [11, 'invalid_params'],
      ],
    ],
    [
      'TA-SEARCH-3 max_results is 1 to 1000',
      'search',
      max_results => ({query: 'match', max_results}),
      [
        [0, 'invalid_params'],
        [1, 'ok'],
        [2, 'ok'],
        [999, 'ok'],
        [1000, 'ok'],
        [1001, 'invalid_params'],
      ],
    ],
  ])('%s', async (_, tool, params, expected) => {
    const {code} = await callWorkspaceTools({'a.txt': linesOf(3)});
    for (const [value, said] of expected) {
      expect([value, await code(tool, params(value))]).toEqual([value, said]);
    }
  });

  test('TA-SEARCH-2 context_lines are the lines on either side that are returned', async () => {
    const {data} = await callWorkspaceTools({'a.txt': `${'-\n'.repeat(20)}match\n${'-\n'.repeat(20)}`});
    for (const context_lines of [0, 1, 9, 10]) {
      expect(await data('search', {query: 'match', context_lines})).toMatchObject({
        matches: [
          {
            line: 21,
            context_before: Array(context_lines).fill('-'),
            context_after: Array(context_lines).fill('-'),
          },
        ],
      });
    }
  });
});

describe('bounds of answers: one below, at, and one above', () => {
  test.each([
    [999, 999, false],
    [1000, 1000, false],
    [1001, 1000, true],
  ])(
    'TA-LIST-5 of %i files %i are listed; truncated is %s',
    {tags: 'slow'},
    async (count, listed, truncated) => {
      const files = Object.fromEntries(Array.from({length: count}, (_, at) => [`f${at}`, '']));
      const {data} = await callWorkspaceTools(files);
      const answer = await data('list_files');
      expect(answer).toMatchObject({truncated, total_files: count});
      expect(answer['files']).toHaveLength(listed);
    },
  );

  test.each([
    [49, 49, false],
    [50, 50, false],
    [51, 50, true],
  ])(
    'TA-SEARCH-3 of %i matches %i are returned by default; truncated is %s',
    async (count, shown, truncated) => {
      const {data} = await callWorkspaceTools({'a.txt': linesOf(count)});
      const answer = await data('search', {query: 'match', context_lines: 0});
      expect(answer).toMatchObject({truncated, total_matches: count});
      expect(answer['matches']).toHaveLength(shown);
    },
  );

  test.each([
    [999, 999, false],
    [1000, 1000, false],
    [1001, 1000, true],
  ])(
    'of %i matches %i are returned for max_results 1000; truncated is %s',
    async (count, shown, truncated) => {
      const {data} = await callWorkspaceTools({'a.txt': linesOf(count)}, {maxOutputBytes: 1_000_000});
      const answer = await data('search', {query: 'match', context_lines: 0, max_results: 1000});
      expect(answer).toMatchObject({truncated, total_matches: count});
      expect(answer['matches']).toHaveLength(shown);
    },
  );
});

describe('bounds of run: one below, at, and one above', () => {
  async function open() {
    const settings = {
      sandbox: 'none',
      allow_insecure_none: true,
      timeout_seconds: 10,
      max_timeout_seconds: 20,
    } as const;
    const opened = openSandbox({settings});
    onTestFinished(() => opened.close());
    const tools = [runTool(opened.sandbox, runOptions(settings))];
    return openTestRuntime({tools, approval: {mode: 'auto'}});
  }

  test.each([
    [102_399, 102_399, /^x{102399}$/],
    [102_400, 102_400, /^x{102400}$/],
    [102_401, undefined, /^x+\n\[\.\.\. \d+ bytes left out \.\.\.\]\nx+$/],
  ])('TA-RUN-5 of %i bytes of output the artifact has %s', async (written, kept, content) => {
    const {call, directory} = await open();
    const command = `head -c ${written} /dev/zero | tr '\\0' x; head -c ${written} /dev/zero | tr '\\0' x >&2`;
    const {data, stdout_path, stderr_path} = await call('run', {command});
    expect(data).toMatchObject({stdout_bytes: written, stderr_bytes: written});
    for (const path of [stdout_path, stderr_path]) {
      const artifact = readFileSync(join(directory, String(path)), 'latin1');
      expect(artifact).toMatch(content);
      expect(artifact.length).toBeLessThanOrEqual(102_400);
      if (kept !== undefined) expect(artifact).toHaveLength(kept);
    }
  });

  test('TA-RUN-1 timeout_sec is 1 to tools.run.max_timeout_seconds', {tags: 'slow'}, async () => {
    const {call} = await open();
    const said: string[] = [];
    for (const timeout_sec of [0, 1, 2, 19, 20, 21]) {
      const {error} = await call('run', {command: 'true', timeout_sec});
      said.push(error?.error_type ?? 'ok');
    }
    expect(said).toEqual(['invalid_params', 'ok', 'ok', 'ok', 'ok', 'invalid_params']);
  });
});

const EXITED: ProcessEnd = {end: 'exited', exitCode: 0, stderr: ''};

/** What is said by programs that lie in one directory and run as it is pretended. */
async function probed(
  programs: Readonly<Record<string, string | ProcessEnd>>,
  deps: Partial<ProbeDeps> = {},
): Promise<{
  readonly probes: readonly Probe[];
  readonly requests: readonly ProcessRequest[];
  readonly bin: string;
}> {
  const bin = temporaryDirectory();
  for (const name of Object.keys(programs)) {
    writeFileSync(join(bin, name), '');
    chmodSync(join(bin, name), 0o755);
  }
  const requests: ProcessRequest[] = [];
  const probes = await probeDependencies({
    processes: {
      run: async request => {
        requests.push(request);
        const outcome = programs[basename(request.command)] ?? 'ripgrep 14.1.1 (rev 1)\n';
        if (typeof outcome !== 'string') return outcome;
        request.onStdout(Buffer.from(outcome));
        return EXITED;
      },
    },
    programDirectories: [bin, 'relative', ''],
    standardDirectories: [],
    untrustedTrees: [],
    protectedPaths: [],
    browser: {enabled: true, chromium_path: ''},
    signal: new AbortController().signal,
    platform: 'linux',
    pid: 2,
    ...deps,
  });
  return {probes, requests, bin};
}

const NODE = {
  name: 'Node.js',
  state: 'ok',
  version: process.versions.node,
  detail: process.execPath,
  neededFor: 'nothing is tested below 20.19',
  remedy: 'install Node.js 22 from https://nodejs.org/',
};
const NEEDED_FOR = {
  ripgrep: 'search answers ripgrep_unavailable; glob falls back to a slower scan',
  'GNU patch': 'apply_patch works, without its cross-check against GNU patch',
  Chromium:
    'web_fetch answers force_browser with browser_unavailable, and cannot render pages made by script',
};
const NAMES = 'chromium, chromium-browser, google-chrome-stable, google-chrome, chrome-headless-shell';

function missing(name: keyof typeof NEEDED_FOR, programs: string, remedy: string) {
  const detail = `${programs} not found in PATH`;
  return {name, state: 'missing', version: undefined, detail, neededFor: NEEDED_FOR[name], remedy};
}

function ripgrepWith(remedy: string) {
  const {ripgrep: neededFor} = NEEDED_FOR;
  return {
    name: 'ripgrep',
    state: 'ok',
    version: '14.1.1',
    detail: expect.stringMatching(/rg(\.exe)?$/),
    neededFor,
    remedy,
  };
}

test('policy: where nothing else is there, all is missing, each with what it is for and how to get it', async () => {
  const {probes} = await probed({});
  expect(probes).toEqual([
    NODE,
    ripgrepWith('apt-get install ripgrep'),
    missing('GNU patch', 'patch', 'apt-get install patch'),
    missing('Chromium', NAMES, 'apt-get install chromium'),
  ]);
  expect((await probed({}, {platform: 'freebsd'})).probes.map(({remedy}) => remedy)).toEqual([
    NODE.remedy,
    'apt-get install ripgrep',
    'apt-get install patch',
    'apt-get install chromium',
  ]);
});

test('policy: the remedies of other systems are their own', async () => {
  const {probes: mac} = await probed({}, {platform: 'darwin'});
  expect(mac).toEqual([
    NODE,
    ripgrepWith('brew install ripgrep'),
    missing('GNU patch', 'patch', 'brew install gpatch'),
    {
      ...missing('Chromium', '', 'brew install --cask google-chrome'),
      detail: expect.stringContaining(`${NAMES}, /Applications/`),
    },
  ]);
  const {probes: windows} = await probed({}, {platform: 'win32'});
  expect(windows).toEqual([
    NODE,
    ripgrepWith('winget install BurntSushi.ripgrep.MSVC'),
    missing('GNU patch', 'patch', 'install Git for Windows, which brings it'),
    {
      ...missing('Chromium', '', 'winget install Google.Chrome'),
      detail: expect.stringContaining(`${NAMES}, C:\\Program Files`),
    },
  ]);
});

test('policy: what is there is asked for its version, with nothing of the environment but the directories', async () => {
  const {probes, requests, bin} = await probed({
    patch: 'GNU patch 2.7.6\nCopyright\n',
    chromium: 'Chromium 156.0.7000.1 built on Debian\n',
  });
  expect(probes.map(({name, state, version, detail}) => [name, state, version, detail])).toEqual([
    ['Node.js', 'ok', process.versions.node, process.execPath],
    ['ripgrep', 'ok', '14.1.1', expect.any(String)],
    ['GNU patch', 'ok', '2.7.6', join(bin, 'patch')],
    ['Chromium', 'ok', '156.0.7000.1', join(bin, 'chromium')],
  ]);
  expect(
    requests.map(({command, args}) => [basename(command).replace('.exe', ''), ...args].join(' ')).sort(),
  ).toEqual(['chromium --version', 'patch --version', 'rg --version']);
  for (const {cwd, env, maxStdoutBytes, stdin, onStdout} of requests) {
    expect({cwd, env, maxStdoutBytes, stdin}).toEqual({
      cwd: '/',
      env: {PATH: bin, HOME: '/', LC_ALL: 'C'},
      maxStdoutBytes: 65_536,
      stdin: undefined,
    });
    expect(onStdout(Buffer.from(''))).toBe(true);
  }
});

test.each<readonly [string | ProcessEnd, string]>([
  ['', ''],
  ['\n busybox \nmore', 'busybox '],
  ['x'.repeat(201), 'x'.repeat(200)],
  ['not GNU patch 2.7.6', 'not GNU patch 2.7.6'],
  [{end: 'exited', exitCode: 1, stderr: 'It is broken.\nmore'}, 'It is broken.'],
  [{end: 'exited', exitCode: null, stderr: ''}, ''],
  [{end: 'not_started', error: 'EACCES'}, 'cannot be started (EACCES)'],
  [{end: 'broken', error: 'EPIPE'}, 'gave no answer (broken)'],
  [{end: 'aborted'}, 'gave no answer (aborted)'],
])('policy: a program that says %j is broken', async (outcome, words) => {
  const {probes, bin} = await probed({patch: outcome});
  expect(probes.find(({name}) => name === 'GNU patch')).toMatchObject({
    state: 'broken',
    version: undefined,
    detail: `${join(bin, 'patch')}: ${words}`,
  });
});

test('policy: what fails is broken although it says its version', async () => {
  const bin = temporaryDirectory();
  const states = async (exitCode: number) => {
    const {probes} = await probed(
      {},
      {
        processes: {
          run: async ({onStdout}) => {
            onStdout(Buffer.from('ripgrep 14.1.1'));
            return {...EXITED, exitCode};
          },
        },
        programDirectories: [bin],
      },
    );
    return probes.find(({name}) => name === 'ripgrep')?.state;
  };
  expect([await states(0), await states(1)]).toEqual(['ok', 'broken']);
});

test('policy: the Chromium of the settings is asked alone', async () => {
  const chromium_path = join(temporaryDirectory(), 'mine');
  const {probes} = await probed({chromium: 'Chromium 1.2.3.4'}, {browser: {enabled: true, chromium_path}});
  expect(probes.at(-1)).toMatchObject({
    state: 'missing',
    detail: `tools.webfetch.browser.chromium_path is ${chromium_path}, which is not an executable file`,
    remedy: 'correct tools.webfetch.browser.chromium_path, or leave it out',
  });
});

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
  test.each(['a/', 'b/', 'i/', 'w/', ''])(
    'TA-PATCH-2 W22 the prefix "%s" of a path is stripped',
    async part => {
      const {data, root} = await callWorkspaceTools(FILES);
      const unified_diff = PATCH.replace('--- a/', `--- ${part}`).replace('+++ b/', `+++ ${part}`);
      expect(await data('apply_patch', {unified_diff})).toMatchObject({
        changed_files: ['a.txt'],
        patch_size_bytes: unified_diff.length,
      });
      expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('ONE\ntwo\nthree\nfour\n');
    },
  );

  test('TA-PATCH-2 another prefix is none that a diff has', async () => {
    const {code} = await callWorkspaceTools(FILES);
    const unified_diff = PATCH.replace('a/', 'old/').replace('b/', 'old/');
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
