import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {openSandbox, processesWith, runOptions, uniqueSleep} from '../../../../test/support/open-sandbox.ts';
import {openTestRuntime, ruleOf, tempDirectory} from '../../../../test/support/open-test-runtime.ts';
import {systemClock} from '../../../core/clock.ts';
import type {Json} from '../../../core/json.ts';
import {openWorkspaceSession} from '../../files/workspace-session.ts';
import {runTools} from '../run-tools.ts';
import {BackgroundCommands} from './background-commands.ts';

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
    runtime.runtime.session.stop('enough');
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
