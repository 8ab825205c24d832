import {mkdirSync, readFileSync, symlinkSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {openSandbox, runOptions, type SandboxSettings} from '../../../test/support/open-sandbox.ts';
import {openTestRuntime} from '../../../test/support/open-test-runtime.ts';
import {captured, pretendContext, pretendOutcome} from '../../../test/support/pretend-context.ts';
import type {EgressConnection, EgressVisitor} from '../../core/egress-gate.ts';
import {fail, type Json, ok} from '../../core/result.ts';
import type {LaterQuestion, ToolContext} from '../../core/tool.ts';
import type {RunOptions} from '../../sandbox/options.ts';
import type {RunOutcome, Sandbox, SandboxCommand} from '../../sandbox/sandbox.ts';
import {openWorkspace} from '../../workspace/jail/jail.ts';
import {EgressLog} from './egress-log.ts';
import {stepsOf} from './output-keeper.ts';
import {lacksNetwork, runTool} from './run.ts';

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

  test('conformance V6: what git executes or is configured by in a repository below is in the answer', async () => {
    const {tool, call, events} = await open();
    const changed = ['sub/.git/config', 'sub/.git/hooks/pre-commit'];
    await call({command: 'mkdir -p sub/.git/hooks; echo a > sub/.git/config'});
    const hijack =
      'echo "# x" >> sub/.git/config; echo "#!/bin/sh" > sub/.git/hooks/pre-commit; touch sub/.git/zz';
    const {data} = await call({command: hijack});
    expect(data).toMatchObject({git_settings: changed});
    expect(Object.keys(data ?? {})).not.toContain('repositories');
    expect(tool.renderText(data)).toContain(changed.join(', '));
    expect(events('git_settings_changed').at(-1)).toEqual({paths: changed, complete: true});
  });

  test('conformance V6: and it is said where the command does not end well', async () => {
    const {call} = await open();
    await call({command: 'mkdir -p sub/.git; echo a > sub/.git/config'});
    for (const end of [{command: 'kill -9 $$'}, {command: 'sleep 600', timeout_sec: 1}]) {
      const command = `echo b >> sub/.git/config; ${end.command}`;
      expect((await call({...end, command})).error).toMatchObject({
        message: expect.stringContaining('sub/.git/config'),
        details: {partial: {git_settings: ['sub/.git/config']}},
      });
    }
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

const CONNECTION: EgressConnection = {
  host: 'a.example',
  port: 443,
  decision: 'refused',
  reason: 'No setting allows it.',
  address: '',
  bytesUp: 1,
  bytesDown: 2,
  durationMs: 1234.4,
  isUnlisted: true,
};

interface Given {
  readonly outcome?: Partial<RunOutcome>;
  readonly options?: Partial<RunOptions>;
  readonly params?: object;
  readonly context?: Partial<ToolContext>;
  readonly during?: (command: SandboxCommand) => void;
}

async function ran({outcome, options, params, context: more, during}: Given = {}) {
  const commands: SandboxCommand[] = [];
  const sandbox: Sandbox = {
    run: async command => {
      commands.push(command);
      during?.(command);
      return ok(pretendOutcome(outcome));
    },
    probe: async () => fail('sandbox_error', 'It is pretended.'),
    close: async () => {},
  };
  const tool = runTool(sandbox, runOptions({timeout_seconds: 10, max_timeout_seconds: 20, ...options}));
  const pretended = pretendContext(more);
  const prepared = tool.prepare({command: 'x', ...params});
  if (!prepared.ok) throw new Error(prepared.error.all);
  const result = await prepared.value.execute(pretended.context);
  return {...pretended, result, commands};
}

const ANSWER = {
  exit_code: 0,
  stdout: '',
  stderr: '',
  stdout_truncated: false,
  stderr_truncated: false,
  stdout_bytes: 0,
  stderr_bytes: 0,
  stdout_path: 'logs/tool_step_0007_stdout.txt',
  stderr_path: 'logs/tool_step_0007_stderr.txt',
  duration_sec: 1.234,
  sandbox: 'bubblewrap',
  left_running: [],
};

const NO_HOST = 'curl: (6) Could not resolve host: a.example\n';
const LONG = `${'x'.repeat(75)}\n`.repeat(20);
const NO_GIT = "fatal: Unable to create '/w/.git/index.lock': Read-only file system\n";

test.each<readonly [string, Given, object]>(
  // biome-ignore format: a case is a line
  [
    ['nothing to tell', {}, {}],
    [
      'all there is',
      {
        outcome: {
          exitStatus: {kind: 'exited', code: 3},
          stdout: captured('out\n'),
          stderr: captured('err\n', {totalBytes: 99, leftOutBytes: 95}),
          leftRunning: ['sleep'],
          repositories: {paths: ['sub'], complete: false},
        },
      },
      {
        exit_code: 3,
        stdout: 'out\n',
        stderr: 'err\n',
        stderr_truncated: true,
        stdout_bytes: 4,
        stderr_bytes: 99,
        left_running: ['sleep'],
        repositories: ['sub'],
        repositories_complete: false,
      },
    ],
    ['no network', {outcome: {stderr: captured(NO_HOST)}}, {stderr: NO_HOST, stderr_bytes: NO_HOST.length, note: '[commands have no network]'}],
    ['a network without a sandbox', {outcome: {stderr: captured(NO_HOST), sandbox: 'none'}}, {stderr: NO_HOST, stderr_bytes: NO_HOST.length, sandbox: 'none'}],
    ...[
      {allow: ['b.example'], presets: []},
      {allow: [], presets: ['npm']},
    ].map((egress): readonly [string, Given, object] => [
      'a network by the proxy only',
      {
        outcome: {stderr: captured(NO_HOST)},
        options: {egress: {...runOptions().egress, ...egress} as RunOptions['egress']},
      },
      {
        stderr: NO_HOST,
        stderr_bytes: NO_HOST.length,
        note: '[commands reach hosts by the proxy in HTTPS_PROXY only]',
      },
    ]),
    [
      'what git may not do',
      {outcome: {stderr: captured(NO_GIT)}, options: {git: 'read-only'}},
      {
        stderr: NO_GIT,
        stderr_bytes: NO_GIT.length,
        note: 'Commands may read .git and not change it (tools.run.git = "read-only"). The user commits, or sets it to "commit".',
      },
    ],
    [
      'what git may not do where it commits, and a connection that was refused',
      {
        outcome: {stderr: captured('error: Read-only file system: x/.git\n')},
        options: {git: 'commit'},
        during: ({egress}) => egress?.onConnection(CONNECTION),
      },
      {
        stderr: 'error: Read-only file system: x/.git\n',
        stderr_bytes: 37,
        note: 'Commands may commit and not change what git executes or is configured by (tools.run.git = "commit"). The user does that. [network: a.example:443: No setting allows it.]',
      },
    ],
    ['a file system that is read-only elsewhere', {outcome: {stderr: captured('a.git\nx: Read-only file system\nb.gitx Read-only file system\n')}}, {stderr: 'a.git\nx: Read-only file system\nb.gitx Read-only file system\n', stderr_bytes: 60}],
  ],
)('ruling W8: the answer of a command that exited: %s', async (_, given, more) => {
  const {result, events} = await ran(given);
  const {stdout_path, stderr_path} = ANSWER;
  const data = {...ANSWER, ...more};
  expect(result).toEqual({
    ok: true,
    value: {data, fields: {exit_code: data.exit_code, stdout_path, stderr_path}},
  });
  const appeared = events.filter(([event]) => event === 'repositories_appeared');
  expect(appeared).toEqual(
    given.outcome?.repositories === undefined
      ? []
      : [['repositories_appeared', {paths: ['sub'], complete: false}]],
  );
});

const PARTIAL = {
  stdout: 'out\n',
  stderr: 'err\n',
  stdout_path: ANSWER.stdout_path,
  stderr_path: ANSWER.stderr_path,
  sandbox: 'bubblewrap',
};
const WRITTEN = {stdout: captured('out\n'), stderr: captured('err\n')};
const SO_FAR = 'read_output step=7 shows its output.\nEnd of stdout:\nout\nEnd of stderr:\nerr';

test.each<readonly [string, Given, ReturnType<typeof fail>]>([
  [
    'a signal',
    {outcome: {...WRITTEN, exitStatus: {kind: 'killed', code: 139, signal: 'SIGSEGV', outOfMemory: false}}},
    fail(
      'abnormal_exit',
      `The command was killed by SIGSEGV; look at its output. It ran for 1.234 s in sandbox bubblewrap. ${SO_FAR}`,
      {signal: 'SIGSEGV', reason: 'signal', exit_code: 139, partial: PARTIAL},
    ),
  ],
  [
    'want of memory',
    {outcome: {exitStatus: {kind: 'killed', code: 137, signal: 'SIGKILL', outOfMemory: true}}},
    fail(
      'abnormal_exit',
      'The command ran out of memory (tools.run.memory_mb); give it less to do at a time. It ran for 1.234 s in sandbox bubblewrap. It wrote nothing.',
      {
        signal: 'SIGKILL',
        reason: 'out_of_memory',
        exit_code: 137,
        partial: {...PARTIAL, stdout: '', stderr: ''},
      },
    ),
  ],
  [
    'time',
    {
      outcome: {
        stdout: captured(' \n'),
        stderr: captured(NO_HOST + LONG),
        exitStatus: {kind: 'timeout'},
      },
      params: {timeout_sec: 2},
    },
    fail(
      'timeout',
      `The command did not end within 2 s and was killed with all that it started. Give it less to do, or a larger timeout_sec. [commands have no network] read_output step=7 shows its output.\nEnd of stderr:\n${LONG.trimEnd().slice(-1500)}`,
      {
        timeout_ms: 2000,
        partial: {
          ...PARTIAL,
          stdout: ' \n',
          stderr: NO_HOST + LONG,
        },
      },
    ),
  ],
  [
    'a cancelled call',
    {outcome: {...WRITTEN, exitStatus: {kind: 'cancelled'}}},
    fail('cancelled', `The command was killed because the call was cancelled. ${SO_FAR}`),
  ],
])('ruling W8: what ended a command: %s', async (_, given, expected) => {
  expect((await ran(given)).result).toEqual(expected);
});

test('ruling W9: a command that has run is not to be run again because its output cannot be kept', async () => {
  for (const [status, how] of [
    [{kind: 'exited', code: 3}, ' (exit code 3)'],
    [{kind: 'timeout'}, ''],
  ] as const) {
    for (const stream of ['stdout', 'stderr']) {
      const saveArtifact: ToolContext['saveArtifact'] = async path =>
        path.includes(stream) ? fail('io_error', 'The disk is full.', {path}) : ok(path);
      const {result} = await ran({outcome: {exitStatus: status}, context: {saveArtifact}});
      expect(result).toEqual(
        fail('io_error', `The command has run${how}, so do not repeat it. The disk is full.`, {
          path: `logs/tool_step_0007_${stream}.txt`,
        }),
      );
    }
  }
});

test('ruling W9: both streams are saved, and room is made only where one of them was long', async () => {
  const short = await ran({outcome: WRITTEN});
  expect([...short.files]).toEqual([
    ['logs/tool_step_0007_stdout.txt', 'out\n'],
    ['logs/tool_step_0007_stderr.txt', 'err\n'],
  ]);
  expect(short.trims).toEqual([]);
  for (const stream of ['stdout', 'stderr'] as const) {
    const long = await ran({
      options: {kept_output_mb: 3},
      during: ({spill}) => {
        const sink = spill?.[stream];
        if (typeof sink === 'function') sink(Buffer.from('all'));
      },
    });
    expect(long.files.get(`output/step_0007_${stream}.txt`)).toBe('all');
    expect(long.trims).toEqual([['output', 3 * 1024 * 1024]]);
    expect(long.logged).toEqual([]);
  }
});

test('ruling W9: what cannot be kept whole, or made room for, is a warning', async () => {
  const full = fail('io_error', 'The disk is full.');
  const unkept = await ran({context: {streamArtifact: () => ({write: () => {}, finish: () => full})}});
  expect(unkept.result.ok).toBe(true);
  const warning = {level: 'warn', message: 'The disk is full.', error_code: 'io_error'};
  expect(unkept.logged).toEqual([
    {...warning, event: 'output_not_kept'},
    {...warning, event: 'output_not_kept'},
  ]);
  const {artifacts} = pretendContext().context;
  const untrimmed = await ran({
    context: {
      streamArtifact: path => ({write: () => {}, finish: () => ok(path)}),
      artifacts: {...artifacts, trim: async () => full},
    },
  });
  expect(untrimmed.result.ok).toBe(true);
  expect(untrimmed.logged).toEqual([{...warning, event: 'outputs_not_trimmed'}]);
});

test('Tool API run: what the sandbox is handed', async () => {
  const {commands, context} = await ran({params: {env: {A: 'b'}, timeout_sec: 3}});
  expect(commands).toEqual([
    {
      command: 'x',
      env: {A: 'b'},
      directory: undefined,
      spill: {stdout: expect.any(Function), stderr: expect.any(Function)},
      egress: expect.any(EgressLog),
      timeoutMs: 3000,
      signal: context.signal,
    },
  ]);
  expect((await ran()).commands[0]).toMatchObject({env: {}, timeoutMs: 10_000});
});

test('ruling W21: without anything that would end it, nothing runs in the background', () => {
  const tool = runTool({} as Sandbox, runOptions());
  expect(tool.prepare({command: 'x', background: true})).toMatchObject({
    ok: false,
    error: {all: 'background: is no parameter'},
  });
});

test('red team F15: a host that a command reached is a stranger from then on', () => {
  const met: string[] = [];
  const {context} = pretendContext({metStranger: host => met.push(host)});
  new EgressLog(context).onReached({scheme: 'https', host: 'mirror.example', port: 443});
  expect(met).toEqual(['mirror.example:443']);
});

test('ruling X1: each connection is an event, and the answer names the first five that came to nothing', () => {
  const noteOf = (...connections: readonly Partial<EgressConnection>[]) => {
    const {context, events} = pretendContext();
    const log = new EgressLog(context);
    for (const connection of connections) log.onConnection({...CONNECTION, ...connection});
    return {note: log.note(), events};
  };
  expect(noteOf({decision: 'allowed', address: '192.0.2.1'})).toEqual({
    note: undefined,
    events: [
      [
        'egress_connection',
        {
          host: 'a.example',
          port: 443,
          decision: 'allowed',
          reason: 'No setting allows it.',
          address: '192.0.2.1',
          bytes_up: 1,
          bytes_down: 2,
          duration_sec: 1.234,
        },
      ],
    ],
  });
  expect(noteOf({}, {reason: 'Later.'}, {port: 0}, {host: '', reason: 'It named none.'}).note).toBe(
    '[network: a.example:443: Later. a.example: No setting allows it. It named none.]',
  );
  const many = (count: number) =>
    noteOf(
      ...Array.from({length: count}, (_, at) => ({
        host: `${at}`,
        port: 1,
        decision: 'failed' as const,
        reason: 'No.',
      })),
    ).note;
  expect(many(5)).toBe('[network: 0:1: No. 1:1: No. 2:1: No. 3:1: No. 4:1: No.]');
  expect(many(7)).toBe('[network: 0:1: No. 1:1: No. 2:1: No. 3:1: No. 4:1: No. 2 more are in the log.]');
});

test('ruling X1: what is asked about a host', async () => {
  const asked: LaterQuestion[] = [];
  const {signal} = new AbortController();
  const context = pretendContext({
    approve: async question => {
      asked.push(question);
      return ok();
    },
  }).context;
  const {ask}: EgressVisitor = new EgressLog(context);
  for (const [scheme, port] of [
    ['https', 443],
    ['https', 80],
    ['http', 80],
    ['http', 443],
  ] as const) {
    expect(await ask?.({scheme, host: 'a.example', port}, signal)).toEqual(ok());
  }
  expect(
    asked.map(({action, subject, summary, toAllow}) => [
      action,
      subject.kind,
      ...subject.values,
      summary,
      toAllow,
    ]),
  ).toEqual(
    [
      ['https://a.example/', 'a.example'],
      ['https://a.example:80/', 'a.example:80'],
      ['http://a.example/', 'http://a.example'],
      ['http://a.example:443/', 'http://a.example:443'],
    ].map(([address, name]) => [
      'egress',
      'url',
      address,
      `let the command reach ${name}`,
      `add "${name}" to tools.run.egress.allow`,
    ]),
  );
  expect(new EgressLog(pretendContext().context).ask).toBeUndefined();
});

test('ruling W9: the steps of commands are told by the names of their files', () => {
  expect(
    stepsOf([
      ...[
        'tool_step_0010_stdout.txt',
        'tool_step_0002_stderr.txt',
        'step_0002_stdout.txt',
        'step_123456789_stderr.txt',
      ],
      ...[
        'step_001_stdout.txt',
        'step_1234567890_stdout.txt',
        'xstep_0003_stdout.txt',
        'step_0004_stdout.txt.old',
      ],
      ...['step_0005_stdin.txt', 'step_0006_stdout-txt', 'tool_step_0007.txt'],
    ]),
  ).toEqual([2, 10, 123_456_789]);
});

test('ruling H4: a question shows the first line of a command, up to 200 characters', async () => {
  const tool = runTool({} as Sandbox, runOptions());
  const summaryOf = async (command: string) => {
    const prepared = tool.prepare({command});
    const intent = prepared.ok ? await prepared.value.intend(pretendContext().context) : prepared;
    return intent.ok ? intent.value.summary : intent;
  };
  const long = 'x'.repeat(200);
  expect(await summaryOf(long)).toBe(`run ${long}`);
  expect(await summaryOf(`${long}y`)).toBe(`run ${long} ...`);
  expect(await summaryOf(' a \n b')).toBe('run a  ...');
  expect(await summaryOf(' a \n')).toBe('run a');
});
