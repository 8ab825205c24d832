import {spawn} from 'node:child_process';
import {mkdirSync, readFileSync, readlinkSync, realpathSync, rmSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {openSandbox, processesWith, type SandboxPlace, uniqueSleep} from '../../test/support/open-sandbox.ts';
import {needs} from '../../test/support/parts.ts';
import {startedChildren} from '../../test/support/started-children.ts';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import type {StartedCommand} from './sandbox.ts';
import {endBySentinel, HostWatch, sentinelProcesses} from './unconfined.ts';

function open(place: SandboxPlace = {}) {
  const opened = openSandbox({
    settings: {sandbox: 'none', allow_insecure_none: true},
    workspace: temporaryDirectory(),
    ...place,
  });
  onTestFinished(opened.close);
  return opened;
}

describe('UnconfinedSandbox', needs('Linux'), () => {
  test('W8: it is asked for by its name, and says what it is', async () => {
    const {sandbox} = open();
    expect(await sandbox.probe()).toEqual({
      ok: true,
      value: {sandbox: 'none', memoryLimit: 'none', description: 'no sandbox'},
    });
    const ran = await open({settings: {sandbox: 'none'}}).sandbox.probe();
    expect(ran.ok ? 'ok' : ran.error.message).toBe(
      'tools.run.sandbox is "none", which lets commands reach everything that this user can. Nothing was run. To fix it: set tools.run.sandbox = "auto", or tools.run.allow_insecure_none = true if that is what you want.',
    );
  });

  test('W8: what a command says and how it ends, a signal told from a code', async () => {
    const {run} = open();
    expect(await run('echo out; echo err >&2; exit 137')).toMatchObject({
      ...{sandbox: 'none', out: 'out\n', err: 'err\n', exitStatus: {kind: 'exited', code: 137}},
      leftRunning: [],
    });
    expect((await run('kill -s TERM $$')).exitStatus).toEqual({
      ...{kind: 'killed', code: 143, signal: 'SIGTERM', outOfMemory: false},
    });
  });

  test('W8: it runs in the workspace, or below it, with the home and the programs of the host', async () => {
    const home = temporaryDirectory();
    const {run, workspace} = open({env: {HOME: home, PATH: '/usr/bin:/bin', SECRET: 'x', TZ: ''}});
    mkdirSync(join(workspace, 'sub'));
    const show = 'pwd; echo "$HOME $PATH $TERM [$SECRET] $TZ"';
    const base = realpathSync(workspace);
    expect((await run(show)).out).toBe(`${base}\n${home} /usr/bin:/bin dumb [] \n`);
    const below = await run(show, {directory: 'sub', env: {TZ: 'UTC'}});
    expect(below.out).toBe(`${base}/sub\n${home} /usr/bin:/bin dumb [] UTC\n`);
  });

  test('W8: without a path of the host, that of the configuration holds', async () => {
    const {run} = open({
      settings: {sandbox: 'none', allow_insecure_none: true, path: '/configured'},
      env: {HOME: undefined, PATH: undefined} as never,
    });
    expect((await run('echo "$HOME $PATH"')).out).toBe('/tmp /configured\n');
  });

  test('review R10: a variable that could make a program of the host run something is refused', async () => {
    const {sandbox, workspace} = open();
    const ran = await sandbox.run({
      ...{command: 'touch ran', env: {TZ: 'UTC', PAGER: 'x'}, timeoutMs: 5000},
      signal: new AbortController().signal,
    });
    expect(ran).toMatchObject({
      ok: false,
      error: {
        code: 'invalid_params',
        message:
          '"env.PAGER" is not given to a process of the host: without a sandbox, only language, time zone and colours can be set. Leave it out, or use a sandbox.',
        details: {field: 'env.PAGER', reason: 'is not given to a process of the host'},
      },
    });
    expect(processesWith(workspace)).toEqual([]);
  });

  test('W8: what is still there when a command ends is named and dead, also out of its group', async () => {
    const {run} = open();
    const mine = uniqueSleep();
    const ran = await run(`setsid sleep ${mine} >/dev/null 2>&1 & exit 4`);
    expect(ran).toMatchObject({exitStatus: {kind: 'exited', code: 4}, leftRunning: [expect.any(String)]});
    expect(processesWith(mine)).toEqual([]);
  });

  test('W8: its time and its caller end it, with all that it started', {tags: 'slow'}, async () => {
    const {run} = open();
    const mine = uniqueSleep();
    const late = await run(`sleep ${mine} & sleep ${mine}`, {timeoutMs: 100});
    expect(late).toMatchObject({exitStatus: {kind: 'timeout'}, leftRunning: []});
    const cancelled = await run(`sleep ${mine}`, {signal: AbortSignal.abort()});
    expect(cancelled).toMatchObject({exitStatus: {kind: 'cancelled'}, leftRunning: []});
    expect(processesWith(mine)).toEqual([]);
  });

  test('W21: the ports of a command are its own, and none of the host', async () => {
    const {sandbox} = open();
    const controller = new AbortController();
    let ran: Promise<unknown> | undefined;
    const started = await new Promise<StartedCommand>(onStart => {
      const {signal} = controller;
      ran = sandbox.run({command: 'sleep 600', env: {}, timeoutMs: 60_000, onStart, signal});
    });
    expect([started.sandbox, await started.listeningPorts()]).toEqual(['none', []]);
    controller.abort();
    await ran;
  });

  test('policy: where the workspace is gone, that is an error and nothing was run', async () => {
    const {sandbox, workspace} = open();
    rmSync(workspace, {recursive: true});
    const ran = await sandbox.run({
      ...{command: 'true', env: {}, timeoutMs: 5000},
      signal: new AbortController().signal,
    });
    expect(ran.ok ? 'ok' : ran.error.message).toContain('The command could not be started. Nothing was run.');
  });
});

/** A process of this name that carries the sentinel. */
function carry(sentinel: string): {readonly mine: string; readonly pid: number | undefined} {
  const mine = uniqueSleep();
  const child = spawn('/bin/sleep', [mine], {env: {FORGE_RUN: sentinel}, stdio: 'ignore'});
  onTestFinished(() => void child.kill('SIGKILL'));
  return {mine, pid: child.pid};
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error('Expected it within 20 s.');
    await new Promise(resolve => setTimeout(resolve, 10));
  }
}

describe('what carries a sentinel', needs('Linux'), () => {
  test('W8: it is found by all of its sentinel, and ended; another one is left alone', {
    tags: 'slow',
  }, async () => {
    const session = `test-${uniqueSleep()}`;
    const [one, other] = [carry(`${session}.1`), carry(`${session}.10`)];
    await until(async () => (await sentinelProcesses(`${session}.1`)).size === 1);
    expect([...(await sentinelProcesses(`${session}.1`))]).toEqual([[one.pid, 'sleep']]);
    expect(await endBySentinel(undefined, `${session}.1`)).toEqual(['sleep']);
    expect(processesWith(one.mine)).toEqual([]);
    expect(processesWith(other.mine)).toHaveLength(1);
    // The leader is not left running: it is the command.
    expect(await endBySentinel(other.pid, `${session}.10`)).toEqual([]);
    await until(() => processesWith(other.mine).length === 0);
  });

  test('W21: the watch of a session ends what carries its sentinel when its host is gone', async () => {
    const session = `test-${uniqueSleep()}`;
    const watch = new HostWatch(session);
    await watch.close();
    watch.start();
    watch.start();
    expect(processesWith(`FORGE_RUN=${session}`)).toHaveLength(1);
    const [own, other] = [carry(`${session}.1`), carry('another-session')];
    await until(async () => (await sentinelProcesses(`${session}.1`)).size === 1);
    await watch.close();
    expect(processesWith(own.mine)).toEqual([]);
    expect(processesWith(other.mine)).toHaveLength(1);
    expect(processesWith(`FORGE_RUN=${session}`)).toEqual([]);
    // A watch that was ended by somebody is started again.
    watch.start();
    for (const pid of processesWith(`FORGE_RUN=${session}`)) process.kill(pid, 'SIGKILL');
    await until(() => {
      watch.start();
      return processesWith(`FORGE_RUN=${session}`).length === 1;
    });
    await watch.close();
  });

  test('policy: the watch keeps nothing of ours: no process, no output, no directory, no exception', async () => {
    const children = startedChildren();
    const kept = () =>
      process.getActiveResourcesInfo().filter(name => /^(?:Process|Pipe)Wrap$/.test(name)).length;
    const before = kept();
    const watch = new HostWatch(`test-${uniqueSleep()}`);
    watch.start();
    await expect.poll(kept, {interval: 1}).toBeLessThanOrEqual(before);
    const [child] = children;
    expect(children).toHaveLength(1);
    expect([child?.stdout?.destroyed, child?.stderr?.destroyed]).toEqual([true, true]);
    expect(readlinkSync(`/proc/${child?.pid}/cwd`)).toBe('/');
    expect(readFileSync(`/proc/${child?.pid}/environ`, 'utf8')).toBe('PATH=/usr/bin:/bin\0');
    // proc(5): the fifth field is the process group.
    expect(readFileSync(`/proc/${child?.pid}/stat`, 'utf8').split(' ')[4]).toBe(String(child?.pid));
    child?.emit('error', new Error('spawn'));
    await watch.close();
    expect(child?.exitCode).toBe(0);
    await watch.close();
  });
});
