import type {ChildProcess} from 'node:child_process';
import {chmodSync, mkdirSync, renameSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {beforeEach, describe, expect, onTestFinished, test, vi} from 'vitest';
import {asUnusedUser} from '../../../test/support/as-unused-user.ts';
import {runOptions} from '../../../test/support/open-sandbox.ts';
import {pretendBubblewrap} from '../../../test/support/pretend-bubblewrap.ts';
import {startedChildren} from '../../../test/support/started-children.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {type Clock, systemClock} from '../../core/clock.ts';
import type {EgressChannel, EgressVisitor} from '../../core/egress/egress-gate.ts';
import {fail} from '../../core/failure/fail.ts';
import type {LogEvent} from '../../core/log.ts';
import {ok, type Result} from '../../core/result.ts';
import {UNHEARD} from '../egress/channel-of-sandbox.ts';
import {rootIdentity} from '../guard/root-identity.ts';
import {WorkspaceGuard} from '../guard/workspace-guard.ts';
import type {RunOptions} from '../options.ts';
import type {SandboxCommand, SandboxHost} from '../sandbox.ts';
import {BubblewrapSandbox} from './bubblewrap.ts';
import {DESCRIPTORS} from './bubblewrap-scripts.ts';

/** Nobody has to become the owner of the workspace. */
beforeEach(asUnusedUser);

interface Place extends Partial<SandboxHost> {
  readonly settings?: Partial<RunOptions>;
}

function open({settings, ...place}: Place = {}) {
  const workspace = join(temporaryDirectory(), 'work');
  mkdirSync(join(workspace, 'a'), {recursive: true});
  const bubblewrap = pretendBubblewrap(workspace);
  const log: LogEvent[] = [];
  const clock = place.clock ?? systemClock;
  const protectedPaths = [join(workspace, 'a/policy')];
  const guard = new WorkspaceGuard({
    ...{workspace, root: rootIdentity(workspace), git: 'read-only', protectedPaths, clock},
    log: event => log.push(event),
  });
  const host: SandboxHost = {
    ...{workspace, protectedPaths, env: {}, programDirectories: bubblewrap.programs, clock},
    log: event => log.push(event),
    ...place,
  };
  const options = runOptions({sandbox: 'bubblewrap', ...settings});
  const sandbox = new BubblewrapSandbox(options, host, guard);
  onTestFinished(async () => {
    await sandbox.close();
    await guard.close();
  });
  const run = async (command: string, more: Partial<SandboxCommand> = {}) => {
    const signal = new AbortController().signal;
    const ran = await sandbox.run({...{command, env: {}, timeoutMs: 20_000, signal}, ...more});
    if (!ran.ok) return ran.error;
    const {stdout, stderr, durationMs, ...rest} = ran.value;
    const [out, err] = [stdout, stderr].map(({bytes}) => Buffer.from(bytes).toString());
    return {...rest, out, err, isTimed: durationMs > 0};
  };
  return {workspace, bubblewrap, log, sandbox, run};
}

const ENDED = {sandbox: 'bubblewrap', exitStatus: {kind: 'exited', code: 0}, leftRunning: [], isTimed: true};
const MOVES =
  'in the workspace is moved or replaced while it is being mounted. Nothing was run. To fix it: end what moves it (a command of another session, a build outside), and call again.';

describe('BubblewrapSandbox', () => {
  test('W8: what it says of itself, once', async () => {
    const {sandbox, bubblewrap, log, run} = open();
    expect(await sandbox.probe()).toEqual({
      ok: true,
      value: {
        ...{sandbox: 'bubblewrap', description: 'bubblewrap 0.9.0'},
        memoryLimit: expect.stringMatching(/^(?:kernel|process)$/),
      },
    });
    expect(log).toEqual([{level: 'warn', event: 'sandbox_not_nested', sandbox: 'bubblewrap'}]);
    expect(await run('true')).toEqual({...ENDED, out: '', err: ''});
    expect(log).toHaveLength(1);
    expect(bubblewrap.starts()).toBeGreaterThan(1);
  });

  test('W8: what a command says, how it ends, and what it left', async () => {
    const {bubblewrap, run} = open({env: {GIT_AUTHOR_NAME: 'Ada', SECRET: 'x'}});
    bubblewrap.put('left', 'left sleep\nleft forge-relay\nleft make\n');
    expect(await run('echo "$A"; echo err >&2; exit 7', {env: {A: 'b c'}})).toEqual({
      ...ENDED,
      ...{exitStatus: {kind: 'exited', code: 7}, out: 'b c\n', err: 'err\n', leftRunning: ['sleep', 'make']},
    });
    const profile = bubblewrap.profile().join(' ');
    expect(profile).toContain('--setenv GIT_AUTHOR_NAME Ada');
    expect(profile).toContain('--setenv PATH /usr/local/sbin:');
    expect(profile).not.toContain('SECRET');
  });

  test('W8: one that does not confine runs nothing', async () => {
    const {bubblewrap, run} = open();
    bubblewrap.put('probe', 'NoNewPrivs:\t1');
    expect(await run('true')).toMatchObject({
      message:
        'bubblewrap does not confine as it should: capabilities are left (CapInh ). Nothing was run. To fix it: use Docker (tools.run.sandbox = "docker"), or a newer kernel and bubblewrap.',
    });
  });

  test('W8: one that cannot make namespaces says so in its own words', async () => {
    const {bubblewrap, run} = open();
    bubblewrap.put('words', 'bwrap: No permissions\n');
    expect(await run('true')).toMatchObject({
      message: expect.stringMatching(/^bubblewrap could not make its namespaces\. Nothing was run\./),
      details: {error: 'bwrap: No permissions'},
    });
    expect(bubblewrap.starts()).toBe(1);
    // It is asked again with the next call.
    bubblewrap.remove('words');
    expect(await run('true')).toMatchObject(ENDED);
  });

  test('review R1: what is mounted is looked at five times', async () => {
    const {bubblewrap, run} = open();
    bubblewrap.put('mounts', 'at 1:1\nat 1:2\n');
    expect(await run('true')).toMatchObject({message: `"." ${MOVES}`});
    expect(bubblewrap.starts()).toBe(5);
  });

  test('review R4: a workspace that is another one by now is not mounted', async () => {
    const {bubblewrap, run, workspace} = open();
    renameSync(workspace, `${workspace}-before`);
    mkdirSync(workspace);
    expect(await run('true')).toMatchObject({
      message: expect.stringContaining('is not the directory any more that this session began with'),
    });
    expect(bubblewrap.starts()).toBe(0);
  });

  test('policy: two sandboxes wait for the commands that come, and are used where nothing has changed', async () => {
    const {bubblewrap, run, workspace} = open();
    await run('true');
    await expect.poll(bubblewrap.starts, {interval: 5}).toBe(4);
    await run('true');
    await expect.poll(bubblewrap.starts, {interval: 5}).toBe(5);
    // One more part is guarded: neither of them has it.
    writeFileSync(join(workspace, 'a/policy'), '');
    await run('true');
    expect(bubblewrap.profile()).toContain('/workspace/a/policy');
    await expect.poll(bubblewrap.starts, {interval: 5}).toBe(8);
    expect(await run('echo again')).toMatchObject({out: 'again\n'});
  });

  test('policy: one that waits is used for less than a minute', async () => {
    let later = 0;
    const clock: Clock = {...systemClock, monotonic: () => systemClock.monotonic() + later};
    const {bubblewrap, run} = open({clock});
    await run('true');
    await expect.poll(bubblewrap.starts, {interval: 5}).toBe(4);
    later = 60_000;
    await run('true');
    await expect.poll(bubblewrap.starts, {interval: 5}).toBe(7);
  });

  test('policy: one that has died meanwhile is replaced', async () => {
    const children = startedChildren();
    const {bubblewrap, run} = open();
    await run('true');
    await expect.poll(bubblewrap.starts, {interval: 5}).toBe(4);
    const waiting = children.filter(({stdio, exitCode}) => stdio.length > 9 && exitCode === null);
    for (const child of waiting) process.kill(-(child.pid ?? 0), 'SIGKILL');
    await expect.poll(() => waiting.every(({signalCode}) => signalCode !== null), {interval: 5}).toBe(true);
    expect(await run('echo out')).toMatchObject({...ENDED, out: 'out\n'});
  });

  test('policy: an answer waits for all of its output', async () => {
    const {bubblewrap, run} = open();
    await run('true');
    const finish = 'echo started >&9; echo over >&9; printf \'"exit-code": 0\' >&8';
    bubblewrap.put('script', `echo early >&4; exec 4>&-; ${finish}; sleep 0.1; echo late >&5; exit 0`);
    expect(await run('true')).toMatchObject({...ENDED, out: 'early\n', err: 'late\n'});
    bubblewrap.put('script', `echo early >&5; exec 5>&-; ${finish}; sleep 0.1; echo late >&4; exit 0`);
    expect(await run('true')).toMatchObject({...ENDED, out: 'late\n', err: 'early\n'});
  });

  test('policy: an answer that is whole does not wait for the end of the namespaces', {
    tags: 'slow',
  }, async () => {
    const children = startedChildren();
    const {bubblewrap, run} = open();
    await run('true');
    const finish = 'echo started >&9; echo over >&9; printf \'"exit-code": 5\' >&8; exec 4>&- 5>&-';
    bubblewrap.put('script', `echo $$ >&4; ${finish}; sleep 0.4; exit 0`);
    const ran = await run('true');
    expect(ran).toMatchObject({exitStatus: {kind: 'exited', code: 5}, out: expect.any(String)});
    const child = children.find(({pid}) => 'out' in ran && pid === Number(ran.out));
    expect(child?.exitCode).toBeNull();
  });

  test.each([
    [
      'the report',
      'echo started >&9; printf \'"exit-code": 5\' >&8; exec 4>&- 5>&-; sleep 0.1; echo "left x" >&9',
    ],
    [
      'the code',
      'echo started >&9; echo "left x" >&9; echo over >&9; exec 4>&- 5>&-; sleep 0.1; printf \'"exit-code": 5\' >&8',
    ],
  ])('policy: an answer waits for %s', async (_, script) => {
    const {bubblewrap, run} = open();
    await run('true');
    bubblewrap.put('script', `${script}; exit 5`);
    expect(await run('true')).toMatchObject({exitStatus: {kind: 'exited', code: 5}, leftRunning: ['x']});
  });

  test('W8: a command that never began is a failure, with what is known of it', async () => {
    const {bubblewrap, run} = open();
    await run('true');
    bubblewrap.put('script', 'printf \'"exit-code": 125\' >&8; exit 125');
    expect(await run('true')).toMatchObject({
      message:
        'The command did not reach the sandbox process that waited for it. Nothing was run. To fix it: call it again; nothing of it was run.',
      details: {error: 'exit code 125'},
    });
    bubblewrap.put('script', 'kill -s KILL $$');
    // It is taken along by what has killed it.
    expect(await run('true')).toMatchObject({
      exitStatus: {kind: 'killed', code: 137, signal: 'SIGKILL', outOfMemory: false},
    });
  });

  test('W20: a death by signal is told from a code by what the shell says', async () => {
    const {bubblewrap, run} = open();
    bubblewrap.put('left', '[1] + Terminated\n');
    expect(await run('exit 143')).toMatchObject({
      exitStatus: {kind: 'killed', code: 143, signal: 'SIGTERM', outOfMemory: false},
    });
    bubblewrap.put('left', '[1] + Done(143)\n');
    expect(await run('exit 143')).toMatchObject({exitStatus: {kind: 'exited', code: 143}});
  });

  test('W8: its time and its caller end a command', {tags: 'slow'}, async () => {
    const {run} = open();
    expect(await run('sleep 0.4', {timeoutMs: 50})).toMatchObject({exitStatus: {kind: 'timeout'}});
    expect(await run('sleep 0.4', {signal: AbortSignal.abort()})).toMatchObject({
      exitStatus: {kind: 'cancelled'},
    });
  });

  test('W21: a command that has begun says where, and which ports it has', async () => {
    const {run} = open();
    const started: unknown[] = [];
    const onStart: SandboxCommand['onStart'] = ({sandbox, listeningPorts}) => {
      started.push(sandbox, listeningPorts());
    };
    await run('sleep 0.1', {onStart});
    const [sandbox, ports] = started;
    expect(sandbox).toBe('bubblewrap');
    // It has the network of this machine: any port, but it can be seen.
    expect(await ports).toEqual(expect.any(Array));
  });

  test('W9: what does not fit goes on, and all of it where that is asked for', async () => {
    const {run} = open();
    const spilt = {stdout: [] as string[], stderr: [] as string[]};
    const into = (chunks: string[]) => ({
      live: (bytes: Uint8Array) => void chunks.push(Buffer.from(bytes).toString()),
    });
    const spill = {stdout: into(spilt.stdout), stderr: into(spilt.stderr)};
    await run('echo out; echo err >&2', {spill});
    expect(spilt).toEqual({stdout: ['out\n'], stderr: ['err\n']});
  });

  test.each(['report', 'status'] as const)('policy: where its %s breaks, it is another one', async name => {
    const reset = new Error('read ECONNRESET');
    const pipeOf = (child: ChildProcess) => child.stdio.at(DESCRIPTORS[name]);
    let breaks = true;
    const children = startedChildren(child => {
      if (breaks && child.stdio.length > 9) setImmediate(() => pipeOf(child)?.destroy(reset));
    });
    const {bubblewrap, run} = open();
    // Before a command is sent: nothing is run.
    expect(await run('true')).toMatchObject({
      message:
        'A pipe to the sandbox process broke before the command was sent. Nothing was run. To fix it: call it again; nothing of it was run.',
    });
    breaks = false;
    expect(await run('true')).toMatchObject(ENDED);
    // While it waits: it is replaced.
    await vi.waitFor(() => expect(bubblewrap.starts()).toBeGreaterThanOrEqual(4), {interval: 5});
    for (const child of children) if (child.stdio.length > 9) pipeOf(child)?.destroy(reset);
    const before = bubblewrap.starts();
    expect(await run('echo out')).toMatchObject({...ENDED, out: 'out\n'});
    expect(bubblewrap.starts()).toBeGreaterThan(before);
    // While a command runs: what is known of it is told.
    const onStart = () =>
      children.filter(({exitCode}) => exitCode === null).map(child => pipeOf(child)?.destroy(reset));
    expect(await run('echo out; exit 7', {onStart})).toMatchObject({
      ...{exitStatus: {kind: 'exited', code: 7}, out: 'out\n'},
    });
  });

  test('policy: after it was closed nothing waits, and what waited has ended', async () => {
    const children = startedChildren();
    const {bubblewrap, run, sandbox} = open();
    await run('true');
    await expect.poll(bubblewrap.starts, {interval: 5}).toBe(4);
    await sandbox.close();
    expect(children.filter(({exitCode, signalCode}) => exitCode === null && signalCode === null)).toEqual([]);
    expect(bubblewrap.starts()).toBe(4);
  });
});

/** A gate that writes down what is asked of it. */
function pretendGate(answer?: Result<EgressChannel>) {
  const calls: unknown[] = [];
  const channel: EgressChannel = {
    socketPath: '/the/socket',
    attach: visitor => {
      calls.push(['attach', visitor]);
      return () => void calls.push('detach');
    },
    close: async () => void calls.push('close'),
  };
  const open = async (uid: number | undefined) => {
    calls.push(['open', uid]);
    return answer ?? ok(channel);
  };
  return {egress: {endsTls: false, open, close: async () => {}}, calls};
}

describe('the way out of a bubblewrap', () => {
  test('X1: each command attaches itself, for as long as it runs', async () => {
    const {egress, calls} = pretendGate();
    const {run, sandbox, bubblewrap, workspace} = open({egress});
    chmodSync(workspace, 0o755);
    await run('true');
    const visitor: EgressVisitor = {onConnection: () => {}};
    calls.splice(0);
    await run('true', {egress: visitor});
    expect(calls.filter(call => call !== 'close' && !(Array.isArray(call) && call[0] === 'open'))).toEqual([
      ['attach', visitor],
      'detach',
    ]);
    await expect.poll(() => bubblewrap.profile()).toContain('/run/forge-egress/socket');
    calls.splice(0);
    await run('true');
    expect(calls).toContainEqual(['attach', UNHEARD]);
    await sandbox.close();
  });

  test('X1: each sandbox has a channel of its own, which is closed with it', async () => {
    const {egress, calls} = pretendGate();
    const {run, sandbox, bubblewrap} = open({egress});
    await run('true');
    await expect.poll(bubblewrap.starts, {interval: 5}).toBe(4);
    await sandbox.close();
    expect(calls.filter(call => call === 'close')).toHaveLength(4);
    expect(calls.filter(call => Array.isArray(call) && call[0] === 'open')).toEqual([
      ...Array.from({length: 4}, () => ['open', expect.any(Number)]),
    ]);
  });

  test('X1: a gate that cannot be opened runs nothing', async () => {
    const refused = fail('sandbox_error', 'No socket.', {});
    const {egress} = pretendGate(refused);
    const {run, bubblewrap} = open({egress});
    expect(await run('true')).toEqual(refused.error);
    expect(bubblewrap.starts()).toBe(0);
  });

  test('X1: a relay that does not start runs nothing', async () => {
    const {egress, calls} = pretendGate();
    const {run, bubblewrap, sandbox} = open({egress});
    bubblewrap.put('mounts', 'no relay\n');
    expect(await run('true')).toMatchObject({
      message: expect.stringContaining('The relay of the way out (tools.run.egress) did not start'),
    });
    await sandbox.close();
    expect(bubblewrap.starts()).toBe(1);
    expect(calls.at(-1)).toBe('close');
  });

  test('policy: a sandbox that the system does not let us make leaves no channel open', async () => {
    startedChildren(({pid, stdio}) => {
      if (stdio.length <= 9) return;
      process.kill(-(pid ?? 0), 'SIGKILL');
      throw new Error('spawn EAGAIN');
    });
    const {egress, calls} = pretendGate();
    const {run} = open({egress});
    expect(await run('true')).toMatchObject({
      message:
        'The control group of the command could not be made. Nothing was run. To fix it: remove unused control groups below /sys/fs/cgroup, or make it writable.',
      details: {error: 'spawn EAGAIN'},
    });
    expect(calls.at(-1)).toBe('close');
  });
});
