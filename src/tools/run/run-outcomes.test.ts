import {expect, test} from 'vitest';
import {runOptions} from '../../../test/support/open-sandbox.ts';
import {captured, pretendContext, pretendOutcome} from '../../../test/support/pretend-context.ts';
import type {EgressConnection, EgressVisitor} from '../../core/egress/egress-gate.ts';
import {fail} from '../../core/failure/fail.ts';
import {ok} from '../../core/result.ts';
import type {LaterQuestion, ToolContext} from '../../core/tool.ts';
import type {RunOptions} from '../../sandbox/options.ts';
import type {RunOutcome, Sandbox, SandboxCommand} from '../../sandbox/sandbox.ts';
import {EgressLog} from './egress-log.ts';
import {stepsOf} from './kept-output.ts';
import {runTool} from './run.ts';

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

test.each<readonly [string, Given, object]>([
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
  [
    'no network',
    {outcome: {stderr: captured(NO_HOST)}},
    {stderr: NO_HOST, stderr_bytes: NO_HOST.length, note: '[commands have no network]'},
  ],
  [
    'a network without a sandbox',
    {outcome: {stderr: captured(NO_HOST), sandbox: 'none'}},
    {stderr: NO_HOST, stderr_bytes: NO_HOST.length, sandbox: 'none'},
  ],
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
  [
    'a file system that is read-only elsewhere',
    {outcome: {stderr: captured('a.git\nx: Read-only file system\nb.gitx Read-only file system\n')}},
    {stderr: 'a.git\nx: Read-only file system\nb.gitx Read-only file system\n', stderr_bytes: 60},
  ],
])('ruling W8: the answer of a command that exited: %s', async (_, given, more) => {
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
