import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {createManualClock} from '../../../test/support/manual-clock.ts';
import {openSandbox, processesWith, runOptions, uniqueSleep} from '../../../test/support/open-sandbox.ts';
import {openTestRuntime, ruleOf, tempDirectory} from '../../../test/support/open-test-runtime.ts';
import {needs} from '../../../test/support/parts.ts';
import {captured, pretendContext, pretendOutcome} from '../../../test/support/pretend-context.ts';
import {systemClock} from '../../core/clock.ts';
import {fail, type Json, ok, type Result} from '../../core/result.ts';
import type {RunOutcome, Sandbox, SandboxCommand} from '../../sandbox/sandbox.ts';
import {openWorkspaceSession} from '../files/session.ts';
import {
  BackgroundCommands,
  describeRemains,
  describeState,
  nameCommand,
  stateOfCommand,
} from './background.ts';
import {
  BackgroundCommand,
  commandEnd,
  type EndedCommand,
  followOutput,
  LineFinder,
} from './background-command.ts';
import type {OutputSource} from './output-keeper.ts';
import {runTools} from './run-tools.ts';
import {waitForCommand} from './wait-for-command.ts';

const bytes = (text: string): Buffer => Buffer.from(text);

const END: EndedCommand = {
  ended: 'exited',
  exitCode: 0,
  durationMs: 1234.4,
  lastWords: '',
  leftRunning: [],
  repositories: [],
  gitSettings: [],
};

function commandOf(clock = createManualClock()): BackgroundCommand {
  return new BackgroundCommand({step: 7, command: 'x', clock});
}

test('W21: a text is found within one part, across parts, and with its whole line', () => {
  const found = (text: string, ...parts: readonly string[]) => {
    const finder = new LineFinder(text);
    return parts.map(part => finder.find(bytes(part)));
  };
  expect(found('b', 'a\nxby\nc')).toEqual(['xby']);
  expect(found('b', 'xb')).toEqual(['xb']);
  expect(found('ready', 'a\nis rea', 'dy now\n')).toEqual([undefined, 'is ready now']);
  expect(found('ab', 'a\n', 'b\n')).toEqual([undefined, undefined]);
  expect(found('ä', 'x')).toEqual([undefined]);
  const finder = new LineFinder('ä');
  expect([finder.find(Uint8Array.of(0xc3)), finder.find(Uint8Array.of(0xa4))]).toEqual([undefined, 'ä']);
  // Of a line without an end, as much is kept as can hold the text.
  expect(found('ab', `a${'x'.repeat(16_383)}`, 'b')).toEqual([undefined, undefined]);
  expect(found('axb', 'y'.repeat(20_000), 'ax', 'b')).toEqual([
    undefined,
    undefined,
    `${'y'.repeat(16_382)}axb`,
  ]);
});

test('W21: lines and bytes are counted by stream, and whoever listens hears all', () => {
  const command = commandOf();
  const heard: string[] = [];
  const stop = command.listen((stream, part) => heard.push(`${stream} ${Buffer.from(part)}`));
  const counts = () => [command.linesOf('stdout'), command.bytesOf('stdout'), command.linesOf('stderr')];
  expect(counts()).toEqual([0, 0, 0]);
  command.wrote('stdout', bytes('a\n\nb'));
  expect(counts()).toEqual([3, 4, 0]);
  command.wrote('stdout', bytes(''));
  expect(counts()).toEqual([3, 4, 0]);
  command.wrote('stdout', bytes('c\n'));
  expect(counts()).toEqual([3, 6, 0]);
  stop();
  command.wrote('stderr', bytes('\n'));
  expect(counts()).toEqual([3, 6, 1]);
  expect(heard).toEqual(['stdout a\n\nb', 'stdout ', 'stdout c\n']);
});

test('W21: of what is written, 16 MiB count', () => {
  const command = commandOf();
  const most = 16 * 1024 * 1024;
  command.wrote('stdout', Buffer.alloc(most - 2, 'x'));
  command.wrote('stdout', bytes('\nab\n\n'));
  expect([command.bytesOf('stdout'), command.linesOf('stdout')]).toEqual([most, 2]);
  command.wrote('stdout', bytes('\n'));
  expect([command.bytesOf('stdout'), command.linesOf('stdout')]).toEqual([most, 2]);
});

test.each<readonly [Result<RunOutcome>, object, string]>(
  // biome-ignore format: a case is a line
  [
    [ok(pretendOutcome({exitStatus: {kind: 'exited', code: 3}})), {ended: 'exited', exitCode: 3}, 'ended with exit code 3 after 1.2 s'],
    [ok(pretendOutcome({exitStatus: {kind: 'killed', code: 139, signal: 'SIGSEGV', outOfMemory: false}})), {ended: 'killed', exitCode: 139, signal: 'SIGSEGV'}, 'was killed by SIGSEGV after 1.2 s'],
    [ok(pretendOutcome({exitStatus: {kind: 'killed', code: 137, signal: 'SIGKILL', outOfMemory: true}})), {ended: 'out_of_memory', exitCode: 137, signal: 'SIGKILL'}, 'ran out of memory after 1.2 s (tools.run.memory_mb)'],
    [ok(pretendOutcome({exitStatus: {kind: 'timeout'}})), {ended: 'out_of_time'}, 'was ended after 1.2 s, as long as it may run'],
    [ok(pretendOutcome({exitStatus: {kind: 'cancelled'}})), {ended: 'stopped'}, 'was stopped after 1.2 s'],
    [fail('sandbox_error', 'It broke.'), {ended: 'failed', failure: fail('sandbox_error', 'It broke.').error}, 'failed after 1.2 s: It broke'],
  ],
)('W21: how a command ended, and in words', (outcome, expected, words) => {
  const end = commandEnd(outcome);
  expect(end).toEqual(expected);
  const command = commandOf();
  command.finish({...END, exitCode: undefined as never, ...end});
  expect(describeState(stateOfCommand(command))).toBe(words);
});

test('W21: the state of a command, with what there is only', () => {
  const clock = createManualClock();
  const command = commandOf(clock);
  clock.advance(2345);
  expect(stateOfCommand(command)).toEqual({running: true, duration_sec: 2.345});
  expect(describeState(stateOfCommand(command))).toBe('running for 2.3 s');
  command.finish(END);
  expect(stateOfCommand(command)).toStrictEqual({
    running: false,
    duration_sec: 1.234,
    ended: 'exited',
    exit_code: 0,
  });
  const other = commandOf(clock);
  other.finish({
    ...END,
    signal: 'SIGHUP',
    failure: fail('io_error', 'No.').error,
    leftRunning: ['sleep', 'cat'],
    repositories: ['a', 'b'],
  });
  const state = stateOfCommand(other);
  expect(state).toEqual({
    running: false,
    duration_sec: 1.234,
    ended: 'exited',
    exit_code: 0,
    signal: 'SIGHUP',
    error: 'No.',
    left_running: ['sleep', 'cat'],
    repositories: ['a', 'b'],
  });
  expect(describeRemains(state)).toEqual([
    'git repositories have appeared in: a, b',
    'killed at its end: sleep, cat',
  ]);
  expect(describeRemains({running: true, duration_sec: 1})).toEqual([]);
});

function following(text: string, command = commandOf(), more: Partial<OutputSource> = {}) {
  const file = {
    bytes: text.length,
    blocks: async function* () {
      for (const part of [text, '']) yield bytes(part);
    },
    close: async () => {},
  };
  const source = {file, isCut: false, mayBeMarked: false, ...more};
  const follow = () => followOutput(command, 'stdout', source);
  const look = async (range: {start_line: number; end_line: number; total_lines: number}) => {
    const followed = follow();
    for await (const _ of followed.source.file.blocks()) await Promise.resolve();
    followed.shown(range);
    return command.shown.stdout;
  };
  return {command, follow, look};
}

test('W21: what is new begins behind what was shown, and an open line is shown again', async () => {
  const {command, follow, look} = following('a\nb\nc');
  command.wrote('stdout', bytes('a\nb\nc'));
  expect(follow()).toMatchObject({start: 1, nothingNew: undefined});
  expect(await look({start_line: 3, end_line: 3, total_lines: 3})).toBe(0);
  expect(await look({start_line: 1, end_line: 1, total_lines: 3})).toBe(1);
  expect(await look({start_line: 2, end_line: 3, total_lines: 3})).toBe(2);
  expect(await look({start_line: 1, end_line: 1, total_lines: 3})).toBe(2);
  expect(follow()).toMatchObject({start: 3, nothingNew: undefined});
  command.finish(END);
  expect(await look({start_line: 3, end_line: 3, total_lines: 3})).toBe(3);
  expect(follow().nothingNew).toEqual(
    ok({total_lines: 3, complete: true, start_line: 4, end_line: 3, content: '', truncated: false}),
  );
});

test('W21: a line that has its end is not shown again, and what was cut is not complete', async () => {
  const {command, follow, look} = following('a\nb\n', commandOf(), {isCut: true});
  command.wrote('stdout', bytes('a\nb\n'));
  expect(await look({start_line: 1, end_line: 2, total_lines: 2})).toBe(2);
  expect(follow().nothingNew).toMatchObject({value: {complete: false, start_line: 3, end_line: 2}});
});

interface Handed {
  readonly command: SandboxCommand;
  readonly end: (result: Result<RunOutcome>) => void;
}

function commandsIn(more: Partial<Parameters<typeof runOptions>[0]> = {}, fails = false) {
  const handed: Handed[] = [];
  const sandbox: Sandbox = {
    run: command =>
      new Promise((resolve, reject) => {
        handed.push({command, end: resolve});
        command.signal.addEventListener('abort', () =>
          resolve(ok(pretendOutcome({exitStatus: {kind: 'cancelled'}}))),
        );
        if (command.signal.aborted) resolve(ok(pretendOutcome({exitStatus: {kind: 'cancelled'}})));
        else if (fails) reject(new Error('broken'));
        else command.onStart?.({sandbox: 'bubblewrap', listeningPorts: async () => undefined});
      }),
    probe: async () => fail('sandbox_error', 'It is pretended.'),
    close: async () => {},
  };
  const clock = createManualClock();
  const background = new BackgroundCommands(
    sandbox,
    runOptions({background: {max_commands: 2, max_life_seconds: 60}, ...more}),
    clock,
  );
  const start = async (step: number, context: Parameters<typeof pretendContext>[0] = {}) => {
    const pretended = pretendContext({step, ...context});
    const plan = {command: `c${step}`, env: {A: 'b'}, directory: 'd', lifeMs: 5000};
    return {...pretended, started: await background.start(plan, pretended.context)};
  };
  return {background, handed, start, clock};
}

test('W21: a command that is started, writes, and ends', async () => {
  const {background, handed, start} = commandsIn();
  const {started, events, files} = await start(3);
  if (!started.ok) throw new Error(started.error.message);
  const [{command: given, end} = {} as Handed] = handed;
  expect(given).toMatchObject({command: 'c3', env: {A: 'b'}, directory: 'd', timeoutMs: 5000});
  expect([background.running, background.all, background.find(3)]).toEqual([
    [started.value],
    [started.value],
    started.value,
  ]);
  const {stdout, stderr} = given.spill ?? {};
  if (typeof stdout === 'object') stdout.live(bytes('out\n'));
  if (typeof stderr === 'object') stderr.live(bytes('err'));
  expect([started.value.linesOf('stdout'), started.value.linesOf('stderr')]).toEqual([1, 1]);
  expect(Object.fromEntries(files)).toEqual({
    'output/step_0003_stdout.txt': 'out\n',
    'output/step_0003_stderr.txt': 'err',
  });
  // A sandbox that is replaced hands it over again.
  given.onStart?.({sandbox: 'docker', listeningPorts: async () => []});
  end(
    ok(
      pretendOutcome({
        exitStatus: {kind: 'exited', code: 1},
        stdout: captured('out\n'),
        stderr: captured(' err \n'),
        leftRunning: ['sleep'],
        repositories: {paths: ['r'], complete: false},
      }),
    ),
  );
  expect(await started.value.whenEnded).toEqual({
    ended: 'exited',
    exitCode: 1,
    durationMs: 1234.4,
    lastWords: ' err',
    leftRunning: ['sleep'],
    repositories: ['r'],
    gitSettings: [],
  });
  expect(events).toEqual([
    ['background_started', {sandbox: 'bubblewrap', max_life_sec: 5}],
    [
      'background_ended',
      {
        ended: 'exited',
        exit_code: 1,
        signal: null,
        duration_sec: 1.234,
        sandbox: 'bubblewrap',
        stdout_bytes: 4,
        stderr_bytes: 6,
      },
    ],
    ['repositories_appeared', {paths: ['r'], complete: false}],
  ]);
  expect(files.get('logs/tool_step_0003_stderr.txt')).toBe(' err \n');
  expect([background.running, background.all]).toEqual([[], [started.value]]);
});

test.each<readonly [string, Partial<RunOutcome>, string]>(
  // biome-ignore format: a case is a line
  [
    ['the output of one that succeeds', {stdout: captured('out\n'), stderr: captured('err\n')}, 'out'],
    ['the errors of one that fails', {exitStatus: {kind: 'exited', code: 1}, stdout: captured('out\n'), stderr: captured('err\n')}, 'err'],
    ['the output of one that fails without a word', {exitStatus: {kind: 'exited', code: 1}, stdout: captured('out\n'), stderr: captured(' \n')}, 'out'],
    ['its end', {stdout: captured(`${'y\n'.repeat(2)}${`${'x'.repeat(74)}\n`.repeat(20)}`)}, `${'x'.repeat(74)}\n`.repeat(20).trimEnd().slice(-1500)],
  ],
)('W21: the last words are %s', async (_, outcome, words) => {
  const {handed, start} = commandsIn();
  const {started} = await start(1);
  handed[0]?.end(ok(pretendOutcome(outcome)));
  expect(started.ok && (await started.value.whenEnded).lastWords.trim()).toBe(words);
});

test('W21: no more run than may, and none once the session ends', async () => {
  const refused = async (most: number) => {
    const {background, start} = commandsIn({background: {max_commands: most, max_life_seconds: 60}});
    for (let step = 1; step <= most; step += 1) await start(step);
    const {started} = await start(9);
    expect(background.find(9)).toBeUndefined();
    await background.close();
    return started;
  };
  const refusal = (reason: string) => fail('invalid_params', reason, {field: 'background', reason});
  const more =
    'and no more may (tools.run.background.max_commands). End one with stop_run, or run it without background.';
  expect(await refused(0)).toEqual(
    refusal(
      'Commands in the background are switched off (tools.run.background.max_commands = 0). Run it without background.',
    ),
  );
  expect(await refused(1)).toEqual(refusal(`1 command runs in the background (step 1), ${more}`));
  expect(await refused(2)).toEqual(refusal(`2 commands run in the background (step 1, 2), ${more}`));
  const {background, start, handed} = commandsIn();
  const {started} = await start(1);
  await background.close();
  expect(started.ok && started.value.end?.ended).toBe('stopped');
  expect((await start(2)).started).toEqual(fail('cancelled', 'The session ends. Nothing more is started.'));
  expect(handed).toHaveLength(1);
});

test('W21: the call ends it until it has begun, and the session at any time', async () => {
  const call = new AbortController();
  const session = new AbortController();
  const {start} = commandsIn();
  const {started} = await start(1, {signal: call.signal, sessionSignal: session.signal});
  if (!started.ok) throw new Error(started.error.message);
  call.abort();
  expect(started.value.signal.aborted).toBe(false);
  session.abort();
  expect((await started.value.whenEnded).ended).toBe('stopped');
  for (const signals of [{signal: AbortSignal.abort()}, {sessionSignal: AbortSignal.abort()}]) {
    const {background, start: begin} = commandsIn();
    const {started: none, events} = await begin(2, signals);
    expect(none).toEqual(fail('cancelled', 'The command was not started, as its call was cancelled.'));
    expect([background.find(2), events]).toEqual([undefined, []]);
  }
});

test('W21: a sandbox that breaks before it begins is a failure, and no command', async () => {
  const {background, start} = commandsIn({}, true);
  const {started, events} = await start(1);
  expect(started).toMatchObject({ok: false, error: {code: 'internal'}});
  expect([background.find(1), events]).toEqual([undefined, []]);
});

test('W21: a sandbox that breaks under a command is its end', async () => {
  const {handed, start, clock} = commandsIn();
  const {started, events} = await start(1);
  if (!started.ok) throw new Error(started.error.message);
  clock.advance(2500);
  handed[0]?.end(fail('sandbox_error', 'It broke.'));
  expect(await started.value.whenEnded).toMatchObject({ended: 'failed', durationMs: 2500, lastWords: ''});
  expect(events.at(-1)).toEqual([
    'background_ended',
    {
      ended: 'failed',
      exit_code: null,
      signal: null,
      duration_sec: 2.5,
      sandbox: null,
      stdout_bytes: null,
      stderr_bytes: null,
    },
  ]);
});

test('W21: an output that cannot be kept is a warning', async () => {
  const {handed, start} = commandsIn();
  const {started, logged} = await start(1, {saveArtifact: async () => fail('io_error', 'The disk is full.')});
  handed[0]?.end(ok(pretendOutcome({stdout: captured('out\n')})));
  expect(started.ok && (await started.value.whenEnded).lastWords).toBe('');
  expect(logged).toEqual([{level: 'warn', event: 'output_not_kept', message: 'The disk is full.'}]);
});

test('W21: of the commands that have ended, the last hundred are known', async () => {
  const {background, handed, start} = commandsIn();
  for (let step = 1; step <= 101; step += 1) {
    const {started} = await start(step);
    handed.at(-1)?.end(ok(pretendOutcome()));
    if (started.ok) await started.value.whenEnded;
    await Promise.resolve();
  }
  await start(102);
  expect([background.find(1), background.find(2)?.step]).toEqual([undefined, 2]);
});

test('W21: a step names a command, and without one the one that runs is meant', async () => {
  const {background, handed, start} = commandsIn();
  const named = (step?: number) => {
    const found = nameCommand(step, background, () => true);
    return found.ok ? found.value.step : found;
  };
  const refusal = (reason: string) => fail('invalid_params', reason, {field: 'step', reason});
  expect(named()).toEqual(refusal('No command was started in the background.'));
  expect(named(4)).toEqual(refusal('Step 4 is no command in the background of this session. None runs now.'));
  await start(1);
  const {started} = await start(2);
  expect(named()).toEqual(
    refusal('Several commands run in the background: name one with step. Those that run are 1, 2.'),
  );
  expect([named(1), named(2)]).toEqual([1, 2]);
  expect(named(3)).toEqual(
    refusal('Step 3 is no command in the background of this session. Those that run are 1, 2.'),
  );
  handed[1]?.end(ok(pretendOutcome()));
  if (started.ok) await started.value.whenEnded;
  expect([named(), named(2)]).toEqual([1, 2]);
  handed[0]?.end(ok(pretendOutcome()));
  await background.find(1)?.whenEnded;
  expect(named()).toBe(2);
});

function waiting(
  aim: {text?: string; port?: number},
  ports: readonly (readonly number[] | undefined)[] = [],
) {
  const clock = createManualClock();
  const command = commandOf(clock);
  const asked = [...ports];
  command.started = {sandbox: 'bubblewrap', listeningPorts: async () => asked.shift()};
  const caller = new AbortController();
  const {context, files} = pretendContext();
  const wrote = (stream: 'stdout' | 'stderr', text: string): void => {
    const path = `output/step_0007_${stream}.txt`;
    files.set(path, (files.get(path) ?? '') + bytes(text).toString('latin1'));
    command.wrote(stream, bytes(text));
  };
  const wait = () =>
    waitForCommand(
      command,
      {text: aim.text, port: aim.port, timeoutMs: 1000},
      {artifacts: context.artifacts, clock, signal: caller.signal},
    );
  return {clock, command, caller, files, wrote, wait};
}

const turn = () => new Promise(resolve => setImmediate(resolve));

test('W21: a text is seen that was written before, or comes later, in either stream', async () => {
  const before = waiting({text: 'ready'});
  before.wrote('stderr', 'not yet\n\x1b[1mis ready\x1b[0m now\n');
  expect(await before.wait()).toEqual(ok({outcome: 'text', stream: 'stderr', line: 'is ready now'}));
  const later = waiting({text: 'ready'});
  later.wrote('stdout', 'is rea');
  const found = later.wait();
  later.wrote('stdout', 'dy\n');
  expect(await found).toEqual(ok({outcome: 'text', stream: 'stdout', line: 'is ready'}));
  const latest = waiting({text: 'ready'});
  const waited = latest.wait();
  await turn();
  latest.wrote('stdout', `ready${'x'.repeat(500)}`);
  expect(await waited).toEqual(ok({outcome: 'text', stream: 'stdout', line: `ready${'x'.repeat(495)}`}));
});

test('W21: what is on the disk beyond what was written when the wait began is heard once', async () => {
  const {wrote, files, wait, clock} = waiting({text: 'xx'});
  wrote('stdout', 'ax');
  files.set('output/step_0007_stdout.txt', 'axxb');
  const waited = wait();
  await turn();
  clock.advance(1000);
  expect(await waited).toEqual(ok({outcome: 'time_out'}));
});

test('W21: the end, the time and the caller end the wait, and nothing is left of it', async () => {
  const ended = waiting({});
  const end = ended.wait();
  ended.command.finish(END);
  expect(await end).toEqual(ok({outcome: 'ended'}));
  expect(ended.clock.pending()).toBe(0);
  const late = waiting({text: 'x'});
  const time = late.wait();
  await turn();
  late.clock.advance(999);
  late.clock.advance(1);
  expect(await time).toEqual(ok({outcome: 'time_out'}));
  const cancelled = waiting({});
  const call = cancelled.wait();
  cancelled.caller.abort();
  const refusal = fail('cancelled', 'The call of wait_for was cancelled.');
  expect(await call).toEqual(refusal);
  expect(await cancelled.wait()).toEqual(refusal);
  expect(cancelled.clock.pending()).toBe(0);
});

test('W21: a port is looked for every 200 ms, and where it cannot be seen, that is said', async () => {
  const {wait, clock} = waiting({port: 80}, [[], [22], [22, 80]]);
  let isOver = false;
  const waited = wait().finally(() => {
    isOver = true;
  });
  await turn();
  clock.advance(199);
  await turn();
  clock.advance(1);
  await turn();
  expect(isOver).toBe(false);
  clock.advance(200);
  expect(await waited).toEqual(ok({outcome: 'port'}));
  expect(clock.pending()).toBe(0);
  const reason = 'the ports of a command cannot be seen here';
  expect(await waiting({port: 80}).wait()).toEqual(
    fail('invalid_params', `"port" cannot be waited for: ${reason}. Wait for a text.`, {
      field: 'port',
      reason,
    }),
  );
});

test('W21: an output that cannot be read fails the wait', async () => {
  const {command, clock} = waiting({text: 'x'});
  command.wrote('stdout', bytes('a'));
  const {artifacts} = pretendContext().context;
  const broken = fail('io_error', 'It cannot be read.');
  const waited = await waitForCommand(
    command,
    {text: 'x', port: undefined, timeoutMs: 1000},
    {artifacts: {...artifacts, open: async () => broken}, clock, signal: new AbortController().signal},
  );
  expect(waited).toEqual(broken);
});

test('red team F14: without a step, only a command of the same client is meant', async () => {
  const {background, start} = commandsIn();
  await start(1);
  await start(2);
  const named = (own: readonly number[]) => {
    const found = nameCommand(undefined, background, step => own.includes(step));
    return found.ok ? found.value.step : found.error.message;
  };
  expect([named([1]), named([2])]).toEqual([1, 2]);
  expect(named([])).toBe(
    'No command in the background is known to be yours. Name it with step, as the answer of its run says.',
  );
});

type Data = {[name: string]: Json};

const SETTINGS = {
  sandbox: 'none',
  allow_insecure_none: true,
  timeout_seconds: 20,
  max_timeout_seconds: 20,
  background: {max_commands: 2, max_life_seconds: 60},
} as const;

async function open(
  settings: Partial<ReturnType<typeof runOptions>> = {},
  options: Partial<Parameters<typeof openTestRuntime>[0]> = {},
) {
  const used = {...SETTINGS, ...settings};
  const opened = openSandbox({settings: used});
  onTestFinished(() => opened.close());
  const session = openWorkspaceSession({
    root: opened.workspace,
    stateDirectory: await tempDirectory(),
    programDirectories: [],
    clock: systemClock,
  });
  if (!session.ok) throw new Error(session.error.message);
  onTestFinished(() => session.value.close());
  const run = runOptions(used);
  const background = new BackgroundCommands(opened.sandbox, run, systemClock);
  const tools = runTools(opened.sandbox, run, {workspace: session.value, background, clock: systemClock});
  const runtime = await openTestRuntime({tools, approval: {mode: 'auto'}, ...options});
  // Before the run is taken away, into which their ends are written.
  onTestFinished(() => background.close());
  const call = async (tool: string, params: Data = {}) => {
    const result = await runtime.call(tool, params);
    const renderer = tools.find(({name}) => name === tool);
    const text = result.data === null ? (result.error?.message ?? '') : renderer?.renderText(result.data);
    return {...result, text: text ?? '', data: result.data as Data};
  };
  const start = (command: string, more: Data = {}) => call('run', {command, background: true, ...more});
  return {call, start, runtime, background, tools};
}

describe('W21: a command in the background', () => {
  test('W21: answers at once, is read as it writes, and its end is an event with its artifacts', async () => {
    const {call, start, runtime} = await open();
    const begun = await start('echo one; read -r go <go; echo two; echo bad >&2; exit 3', {});
    expect(begun).toMatchObject({
      status: 'success',
      exit_code: null,
      stdout_path: null,
      data: {exit_code: null, background: {step: 1, max_life_sec: 60}, sandbox: 'none'},
    });
    expect(begun.text).toBe(
      'Runs in the background as step 1 (NO sandbox, for 60 s at most). read_output step=1 shows what it writes, wait_for step=1 waits for it, stop_run step=1 ends it.',
    );
    const ended = await call('wait_for');
    expect(ended.data).toMatchObject({outcome: 'ended', background: {running: false}});
    const events = (await runtime.events()).filter(({event}) => event.startsWith('background_'));
    expect(events.map(({event}) => event)).toEqual(['background_started', 'background_ended']);
    expect(events[1]?.payload).toMatchObject({
      step: 1,
      ended: 'exited',
      artifacts: expect.arrayContaining([
        {path: 'logs/tool_step_0001_stdout.txt', bytes: expect.any(Number), sha256: expect.any(String)},
      ]),
    });
  });

  test('W21: read_output gives what is new since the last look, and an open line again', async () => {
    const {call, start, runtime} = await open();
    const fifo = join(runtime.directory, 'go');
    await start(
      `mkfifo ${fifo} ${fifo}2; echo 1; echo 2; printf half; read -r x <${fifo}; echo -more; echo err >&2; read -r x <${fifo}2`,
    );
    await call('wait_for', {text: 'half'});
    const first = await call('read_output', {step: 1});
    expect(first.text).toMatch(/^\[stdout of step 1: running for [\d.]+ s; lines 1-3 of 3\]\n1\n2\nhalf\n$/);
    await call('run', {command: `echo >${fifo}`});
    await call('wait_for', {text: 'err'});
    const second = await call('read_output', {step: 1});
    expect(second.text).toMatch(/; lines 3-3 of 3; stream=stderr has 1 unseen line\]\nhalf-more\n$/);
    expect((await call('read_output', {step: 1})).text).toMatch(
      /: running for [\d.]+ s; nothing new after line 3; /,
    );
    expect((await call('read_output', {step: 1, start_line: 1, end_line: 1})).text).toMatch(/\n1\n$/);
    expect((await call('read_output', {step: 1, query: 'HALF'})).text).toMatch(
      /1 match in 3 lines; .*\]\n3:half-more$/,
    );
    await call('run', {command: `echo >${fifo}2`});
    const ended = await call('wait_for', {step: 1});
    expect(ended.text).toMatch(/^Step 1 ended with exit code 0 after [\d.]+ s\.\nEnd of its output/);
    expect((await call('read_output', {step: 1})).text).toMatch(
      /^\[stdout of step 1: ended with exit code 0/,
    );
  });

  test('W21: stop_run ends it with all that it started', async () => {
    const {call, start} = await open();
    const sleep = uniqueSleep();
    await start(`setsid sleep ${sleep} & echo up; sleep ${sleep}`);
    await call('wait_for', {text: 'up'});
    expect(processesWith(sleep).length).toBeGreaterThan(0);
    const stopped = await call('stop_run');
    expect(stopped.data).toMatchObject({was_running: true, background: {running: false, ended: 'stopped'}});
    expect(stopped.text).toMatch(/^Step 1 was stopped after [\d.]+ s\.\nEnd of its output:\nup$/);
    expect(processesWith(sleep)).toEqual([]);
    expect((await call('stop_run', {step: 1})).text).toMatch(/^Step 1 had ended before: it was stopped/);
  });

  test('W21: wait_for sees a text across two writes, one of before, and the end that comes instead', {
    tags: 'slow',
  }, async () => {
    const {call, start} = await open();
    await start('printf rea; sleep 0.1; echo "dy now" >&2; printf dy; echo " on stdout"; sleep 30');
    expect((await call('wait_for', {text: 'ready'})).data).toMatchObject({
      outcome: 'text',
      stream: 'stdout',
      line: expect.stringContaining('ready'),
    });
    expect((await call('wait_for', {text: 'dy now'})).data).toMatchObject({stream: 'stderr', line: 'dy now'});
    expect((await call('wait_for', {text: 'never', timeout_sec: 1})).text).toMatch(
      /^Not yet, after \d+ s: step 1 is still running/,
    );
    await call('stop_run');
    await start('echo "cannot bind" >&2; exit 7');
    const ended = await call('wait_for', {text: 'ready'});
    expect(ended.text).toMatch(
      /^Step \d+ ended with exit code 7 .*\nEnd of its output \(.*\):\ncannot bind$/,
    );
  });

  test('W21: wait_for sees the port of the command, and not that of another process', {
    ...needs('Perl'),
    tags: 'slow',
  }, async () => {
    const {call, start} = await open();
    const listen = `perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1") or die; $| = 1; print "port ", $s->sockport, "\\n"; sleep 60'`;
    await start(listen);
    await start('sleep 60');
    const step = 1;
    await call('wait_for', {step, text: 'port'});
    const port = Number(String((await call('read_output', {step})).data['content']).slice('port '.length));
    expect((await call('wait_for', {step, port})).data['outcome']).toBe('port');
    expect((await call('wait_for', {step: 2, port, timeout_sec: 1})).data['outcome']).toBe('time_out');
  });

  test('W21: number and life are limited', {tags: 'slow'}, async () => {
    const {call, start} = await open({background: {max_commands: 1, max_life_seconds: 1}});
    await start('sleep 60');
    expect((await start('true')).error).toMatchObject({
      error_type: 'invalid_params',
      message:
        '1 command runs in the background (step 1), and no more may (tools.run.background.max_commands). End one with stop_run, or run it without background.',
    });
    expect((await call('wait_for')).data).toMatchObject({
      outcome: 'ended',
      background: {ended: 'out_of_time'},
    });
    expect((await start('true')).status).toBe('success');
  });

  test('W21: rules and questions are those of run, and say that it runs on', async () => {
    const rules = [ruleOf({tool: 'run', decision: 'deny', command_prefix: 'rm'})];
    const {start, runtime} = await open({}, {approval: {mode: 'prompt', rules}});
    expect((await start('rm -rf x')).error?.error_type).toBe('approval_denied');
    expect((await start('true')).error?.error_type).toBe('approval_required');
    const asked = (await runtime.events()).find(({event}) => event === 'approval_requested');
    expect(asked?.payload['summary']).toBe('run in the background true');
  });

  test('W21: it ends when a person stops the session', async () => {
    const {call, start, runtime, background} = await open();
    const sleep = uniqueSleep();
    await start(`echo up; sleep ${sleep}`);
    await call('wait_for', {text: 'up'});
    runtime.runtime.session.client().stop('enough');
    expect(await background.find(1)?.whenEnded).toMatchObject({ended: 'stopped'});
    expect(processesWith(sleep)).toEqual([]);
  });

  test('W21: what no process knows any more is said to be none', async () => {
    const {call} = await open();
    expect((await call('stop_run')).text).toBe('No command was started in the background.');
    expect((await call('wait_for', {step: 9})).text).toBe(
      'Step 9 is no command in the background of this session. None runs now.',
    );
    expect((await call('wait_for', {text: 'a', port: 1})).text).toContain(
      '"port" cannot be waited for together with text; give one of them.',
    );
  });

  test('W21: a command that cannot be started is an error of run and no command', async () => {
    const {start, background} = await open({allow_insecure_none: false});
    expect((await start('true')).error?.error_type).toBe('sandbox_error');
    expect(background.running).toEqual([]);
  });
});
