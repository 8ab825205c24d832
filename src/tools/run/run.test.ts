import {mkdirSync, readFileSync, symlinkSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {openSandbox, runOptions, type SandboxSettings} from '../../../test/support/open-sandbox.ts';
import {openTestRuntime} from '../../../test/support/open-test-runtime.ts';
import type {Json} from '../../core/json.ts';
import {openWorkspace} from '../../workspace/jail/jail.ts';
import {lacksNetwork} from './lacks-network.ts';
import {runTool} from './run.ts';

const SETTINGS = {
  sandbox: 'none',
  allow_insecure_none: true,
  timeout_seconds: 10,
  max_timeout_seconds: 20,
} as const;

async function open(more: SandboxSettings = {}) {
  const settings = {...SETTINGS, ...more};
  const opened = openSandbox({settings});
  onTestFinished(() => opened.close());
  const tool = runTool(opened.sandbox, runOptions(settings));
  const runtime = await openTestRuntime({tools: [tool], approval: {mode: 'auto'}});
  const call = (params: {[name: string]: Json}) => runtime.call('run', params);
  const artifact = (path: Json | undefined) => readFileSync(join(runtime.directory, String(path)), 'utf8');
  const events = (name: string) =>
    readFileSync(join(runtime.directory, 'events.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
      .filter(({event}) => event === name)
      .map(({payload: {paths, complete}}) => ({paths, complete}));
  return {tool, call, artifact, events};
}

describe('run', () => {
  test('Tool API run: exit code and artifacts, as fields and as data', async () => {
    const {call, artifact} = await open();
    const result = await call({command: 'echo out; echo err >&2; exit 3'});
    expect(result).toMatchObject({
      status: 'success',
      exit_code: 3,
      stdout_path: 'logs/tool_step_0001_stdout.txt',
      stderr_path: 'logs/tool_step_0001_stderr.txt',
      data: {
        exit_code: 3,
        stdout: 'out\n',
        stderr: 'err\n',
        stdout_truncated: false,
        stdout_bytes: 4,
        sandbox: 'none',
        left_running: [],
      },
    });
    expect(artifact(result.stdout_path ?? '')).toBe('out\n');
    expect(artifact(result.stderr_path ?? '')).toBe('err\n');
  });

  test('ruling W9 the artifact has 102,400 bytes at most, the preview less', {tags: 'slow'}, async () => {
    const {call, artifact} = await open();
    const result = await call({
      command: 'i=0; while [ $i -lt 30000 ]; do echo "line $i"; i=$((i + 1)); done',
    });
    const data = result.data as {[name: string]: Json};
    expect(data['stdout_truncated']).toBe(true);
    expect(data['stdout_bytes']).toBe(318_890);
    expect(String(data['stdout']).length).toBeLessThan(13_000);
    expect(String(data['stdout']).endsWith('line 29999\n')).toBe(true);
    expect(artifact(result.stdout_path ?? '').length).toBeLessThanOrEqual(102_400);
    expect(artifact(result.stdout_path ?? '')).toMatch(/bytes left out \.\.\.\]\n/);
  });

  test('ruling W8 on a time-out the output so far is kept', {tags: 'slow'}, async () => {
    const {call, artifact} = await open();
    const result = await call({command: 'echo before; sleep 60', timeout_sec: 1});
    expect(result.error).toMatchObject({
      error_type: 'timeout',
      details: {
        timeout_ms: 1000,
        partial: {stdout: 'before\n', stdout_path: 'logs/tool_step_0001_stdout.txt'},
      },
    });
    expect(result.error?.message).toContain('timeout_sec');
    expect(result).toMatchObject({
      exit_code: null,
      stdout_path: 'logs/tool_step_0001_stdout.txt',
      stderr_path: 'logs/tool_step_0001_stderr.txt',
    });
    expect(artifact('logs/tool_step_0001_stdout.txt')).toBe('before\n');
  });

  test('ruling W8 a death by signal is abnormal_exit', async () => {
    const {call, artifact} = await open();
    const result = await call({command: 'echo last words; kill -SEGV $$'});
    expect(result.error).toMatchObject({
      error_type: 'abnormal_exit',
      details: {signal: 'SIGSEGV', exit_code: 139, reason: 'signal'},
    });
    expect(result.error?.message).toContain('End of stdout:\nlast words');
    expect(result).toMatchObject({
      exit_code: 139,
      stdout_path: 'logs/tool_step_0001_stdout.txt',
      stderr_path: 'logs/tool_step_0001_stderr.txt',
    });
    expect(artifact('logs/tool_step_0001_stdout.txt')).toBe('last words\n');
  });

  test('W20: a command that exits with 129 or more by itself is a success', async () => {
    const {call} = await open();
    expect(await call({command: 'exit 137'})).toMatchObject({status: 'success', exit_code: 137});
  });

  test('review R7: repositories that appear are in the result, in its text and in the log', async () => {
    const {tool, call, events} = await open();
    const {data} = await call({command: 'mkdir -p sub/.git; echo made'});
    expect(data).toMatchObject({repositories: ['sub']});
    expect(tool.renderText(data)).toContain('git repositories have appeared in: sub');
    expect(events('repositories_appeared')).toEqual([{paths: ['sub'], complete: true}]);
    expect(Object.keys((await call({command: 'true'})).data ?? {})).not.toContain('repositories');
  });

  test('W11: what git was refused is explained, with the setting', {tags: 'slow'}, async () => {
    const {tool, call} = await open();
    const words = "fatal: Unable to create '/workspace/.git/index.lock': Read-only file system";
    const {data} = await call({command: `echo "${words}" >&2; exit 128`});
    expect(data).toMatchObject({note: expect.stringContaining('tools.run.git = "read-only"')});
    expect(tool.renderText(data)).toContain('sets it to "commit"');
    const {data: other} = await call({command: 'echo "x: Read-only file system" >&2'});
    expect(other).not.toHaveProperty('note');
    const {call: commit} = await open({git: 'commit'});
    expect((await commit({command: `echo "${words}" >&2`})).data).toMatchObject({
      note: expect.stringContaining('Commands may commit'),
    });
  });

  test('Tool API run: parameters that cannot be used are invalid_params', async () => {
    const {call} = await open();
    const wrong: {[name: string]: Json}[] = [
      {},
      {command: ''},
      {command: ' \n'},
      {command: 'a\0b'},
      {command: 'x'.repeat(100_001)},
      {command: 'true', timeout_sec: 0},
      {command: 'true', timeout_sec: 21},
      {command: 'true', env: {'A B': 'x'}},
      {command: 'true', env: {'': 'x'}},
      {command: 'true', env: {'A=B': 'x'}},
      {command: 'true', env: {A: 1}},
      {command: 'true', env: {A: 'a\0b'}},
      {command: 'true', env: Object.fromEntries(Array.from({length: 101}, (_, at) => [`V${at}`, '']))},
      {command: 'true', cwd: '/'},
    ];
    for (const params of wrong) expect((await call(params)).error?.error_type).toBe('invalid_params');
    expect((await call({command: 'exit $((LINES + 1))', env: {LINES: '4'}, timeout_sec: 20})).exit_code).toBe(
      5,
    );
  });

  test('ruling H4 what is asked is the command, with its variables', async () => {
    const {tool} = await open();
    const prepared = tool.prepare({command: 'make\nmake test', env: {CC: 'gcc -O2'}});
    if (!prepared.ok) throw new Error(prepared.error.reason);
    // Nothing of the context is looked at before an approval.
    expect(await prepared.value.intend({} as never)).toMatchObject({
      value: {
        subject: {kind: 'command', values: ['make\nmake test']},
        summary: 'run make ...',
        preview: 'CC="gcc -O2"\nmake\nmake test',
      },
    });
    expect(tool).toMatchObject({
      action: 'run',
      annotations: {readOnly: false, destructive: true, openWorld: false},
    });
    expect(prepared.value.timeoutMs).toBeGreaterThan(10_000);
  });

  test('ruling H2 the text is enough by itself', async () => {
    const {tool, call} = await open();
    const {data} = await call({command: 'echo out; echo err >&2; sleep 60 & exit 2'});
    const text = tool.renderText(data);
    expect(text).toMatch(
      /^exit code 2, [\d.]+ s, NO sandbox\nstdout:\nout\nstderr:\nerr\nkilled at its end: s\w+$/,
    );
  });

  test('W17: lines that repeat are folded in the text and stay in data', async () => {
    const {tool, call} = await open();
    const {data} = await call({command: 'for i in 1 2 3 4 5; do echo same; done; echo a; echo a; echo b'});
    expect(tool.renderText(data)).toContain('stdout:\nsame\n[the same 4 more times]\na\na\nb');
    expect(data).toMatchObject({stdout: 'same\nsame\nsame\nsame\nsame\na\na\nb\n'});
  });

  test('policy: a look-up that failed is explained where there is a sandbox', async () => {
    const words = 'getaddrinfo EAI_AGAIN registry.npmjs.org';
    const {tool, call} = await open();
    // Without a sandbox there is a network.
    expect((await call({command: `echo "${words}" >&2`})).data).not.toHaveProperty('note');
    expect(tool.renderText((await call({command: 'true'})).data)).not.toContain('no network');
    for (const said of [
      words,
      'curl: (6) Could not resolve host: example.com',
      'ssh: x: Temporary failure in name resolution',
      'npm error code ENOTFOUND',
    ]) {
      expect(lacksNetwork(said)).toBe(true);
    }
    expect(lacksNetwork('Error: Cannot find module x')).toBe(false);
  });

  test('W18: a directory is part of what is asked, matched and run', async () => {
    const opened = openSandbox({settings: SETTINGS});
    onTestFinished(() => opened.close());
    mkdirSync(join(opened.workspace, "packages/it's"), {recursive: true});
    symlinkSync('/tmp', join(opened.workspace, 'link'));
    const jail = openWorkspace(opened.workspace);
    if (!jail.ok) throw new Error(jail.error.message);
    onTestFinished(() => jail.value.close());
    const tool = runTool(opened.sandbox, runOptions(SETTINGS), jail.value);
    const intend = async (params: {[name: string]: Json}) => {
      const prepared = tool.prepare(params);
      return prepared.ok
        ? {outline: prepared.value.outline, intent: await prepared.value.intend({} as never)}
        : prepared;
    };
    const values = ['cd packages && npm test'];
    expect(await intend({command: 'npm test', cwd: `${opened.workspace}/packages/`})).toMatchObject({
      outline: {subject: {kind: 'command', values}},
      intent: {
        value: {
          subject: {values},
          summary: 'run npm test (in "packages")',
          preview: 'in "packages":\nnpm test',
        },
      },
    });
    expect(await intend({command: 'a', cwd: "packages/it's"})).toMatchObject({
      outline: {subject: {values: ["cd 'packages/it'\\''s' && a"]}},
    });
    // The root, by the name that commands know too, is no directory of its own.
    for (const cwd of ['.', '/workspace', opened.workspace]) {
      expect(await intend({command: 'a', cwd})).toMatchObject({intent: {value: {subject: {values: ['a']}}}});
    }
    for (const [cwd, code] of [
      ['..', 'path_escape'],
      ['/etc', 'path_escape'],
      ['link', 'symlink_blocked'],
      ['nowhere', 'file_not_found'],
    ] as const) {
      expect(await intend({command: 'a', cwd})).toMatchObject({intent: {error: {code}}});
    }
    const runtime = await openTestRuntime({tools: [tool], approval: {mode: 'auto'}});
    const ran = await runtime.call('run', {command: 'pwd', cwd: "/workspace/packages/it's"});
    expect(ran.data).toMatchObject({stdout: `${opened.workspace}/packages/it's\n`});
  });
});
