import {type ChildProcess, execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import promises, {open} from 'node:fs/promises';
import {syncBuiltinESMExports} from 'node:module';
import {join} from 'node:path';
import {beforeEach, describe, expect, onTestFinished, test, vi} from 'vitest';
import {asUnusedUser} from '../../../test/support/as-unused-user.ts';
import {
  openSandbox,
  processesWith,
  runOptions,
  type SandboxPlace,
  SESSIONS,
  uniqueSleep,
} from '../../../test/support/open-sandbox.ts';
import {needs} from '../../../test/support/parts.ts';
import {pretendBubblewrap} from '../../../test/support/pretend-bubblewrap.ts';
import {breakPipes, startedChildren} from '../../../test/support/started-children.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {type Clock, systemClock} from '../../core/clock.ts';
import type {EgressChannel, EgressVisitor} from '../../core/egress-gate.ts';
import {type LogEvent, silentLog} from '../../core/log.ts';
import {fail, ok, type Result} from '../../core/result.ts';
import {NO_ANSWER_YET} from '../egress-channel.ts';
import {WorkspaceGuard} from '../guard/guard.ts';
import {rootIdentity} from '../guard/users.ts';
import type {RunOptions} from '../options.ts';
import type {SandboxCommand, SandboxHost, StartedCommand} from '../sandbox.ts';
import {seccompFilter} from '../seccomp/filter.ts';
import {SYSCALL_RULES} from '../seccomp/rules.ts';
import {BubblewrapSandbox, killSandbox} from './driver.ts';
import {commandArguments} from './profile.ts';
import {DESCRIPTORS} from './scripts.ts';
import {bubblewrapSetup} from './setup.ts';

/** A system that has no descriptor left, for as long as the test says. */
class StarvedGuard extends WorkspaceGuard {
  isStarved = false;

  override look() {
    if (this.isStarved) throw Object.assign(new Error('EMFILE'), {code: 'EMFILE', syscall: 'open'});
    return super.look();
  }
}

/** The control groups of our sandboxes that wait for a command. */
function warmGroups(): ReadonlySet<string> {
  const groups = readdirSync('/proc').flatMap(entry => {
    try {
      const group = readFileSync(`/proc/${entry}/cgroup`, 'utf8').match(
        `/forge-tools.${process.pid}.[^/\n]+`,
      );
      return group && readFileSync(`/proc/${entry}/cmdline`, 'utf8').includes('ulimit -c 0') ? group : [];
    } catch {
      return [];
    }
  });
  return new Set(groups);
}

async function until(holds: () => boolean): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error('Expected it within 20 s.');
    await new Promise(resolve => setTimeout(resolve, 10));
  }
}

describe('BubblewrapSandbox', needs('bubblewrap'), () => {
  test(
    'policy: a warm sandbox process ends with the call for which the workspace cannot be looked at',
    needs('control groups'),
    async () => {
      const workspace = temporaryDirectory();
      const guard = new StarvedGuard({
        workspace,
        root: rootIdentity(workspace),
        git: 'read-only',
        protectedPaths: [],
        sessions: SESSIONS,
        log: silentLog,
        clock: systemClock,
      });
      const host = {
        workspace,
        protectedPaths: [],
        sessions: SESSIONS,
        env: {},
        clock: systemClock,
        log: silentLog,
      };
      const sandbox = new BubblewrapSandbox(runOptions({sandbox: 'bubblewrap'}), host, guard);
      onTestFinished(async () => {
        await sandbox.close();
        await guard.close();
      });
      const command = {command: 'true', env: {}, timeoutMs: 5000, signal: new AbortController().signal};
      expect((await sandbox.run(command)).ok).toBe(true);
      await until(() => warmGroups().size > 0);
      guard.isStarved = true;
      await expect(sandbox.run(command)).rejects.toThrow('EMFILE');
      await until(() => warmGroups().size === 0);
      guard.isStarved = false;
      expect((await sandbox.run(command)).ok).toBe(true);
    },
  );

  test(
    'policy: two sandboxes wait after a command, for two that follow each other at once, and end with the session',
    needs('control groups'),
    async () => {
      const opened = openSandbox({settings: {sandbox: 'bubblewrap'}});
      onTestFinished(() => opened.close());
      await opened.run('true');
      await until(() => warmGroups().size === 2);
      const ready = warmGroups();
      expect((await opened.run('echo one')).out).toBe('one\n');
      expect((await opened.run('echo two')).out).toBe('two\n');
      // Those of the two that ran may still be there.
      await until(() => warmGroups().size === 2 && [...warmGroups()].every(group => !ready.has(group)));
      await opened.sandbox.close();
      expect([...warmGroups()]).toEqual([]);
    },
  );

  test.each([
    ['is not there inside', '', false],
    ['is where it can be read inside', '', true],
  ])(
    'policy: a bubblewrap that %s runs as often as it can, and the log says where that is once',
    async (_, script, nests) => {
      const programs = temporaryDirectory();
      chmodSync(programs, 0o755);
      writeFileSync(join(programs, 'bwrap'), `#!/bin/sh\n${script}\nexec /usr/bin/bwrap "$@"\n`, {
        mode: 0o755,
      });
      const readable_paths = nests ? [programs] : [];
      const opened = openSandbox({
        settings: {sandbox: 'bubblewrap', readable_paths},
        programDirectories: [programs, '/usr/bin', '/bin', '/usr/sbin', '/sbin'],
      });
      onTestFinished(() => opened.close());
      const {out} = await opened.run(
        'echo x 2>/dev/null >.git && echo open; wc -l </proc/self/mountinfo; cat .git',
      );
      expect(out).toMatch(/^\d+\ngitdir: /);
      // The /proc of the host is below the own one.
      const {out: mounts} = await opened.run('grep -c " /proc ro," /proc/self/mountinfo');
      expect(mounts).toBe(nests ? '2\n' : '1\n');
      const warnings = opened.log.filter(({event}) => event === 'sandbox_not_nested');
      expect(warnings).toHaveLength(nests ? 0 : 1);
    },
  );

  test('policy: an answer does not wait until the namespaces of its command are taken down, and close does', async () => {
    const programs = temporaryDirectory();
    chmodSync(programs, 0o755);
    const gate = join(programs, 'gate');
    execFileSync('mkfifo', ['-m', '0666', gate]);
    const held = await open(gate, 'r+');
    // It stays as long as somebody has the gate open.
    const script = `[ "$1" = --args ] || exec /usr/bin/bwrap "$@"
      exec 3<&0; /usr/bin/bwrap "$@" <&3 3<&- & exec 3<&- 4>&- 5>&-
      wait "$!"; code=$?; [ ! -p ${gate} ] || read -r end <${gate}; exit "$code"`;
    writeFileSync(join(programs, 'bwrap'), `#!/bin/sh\n${script}\n`, {mode: 0o755});
    const opened = openSandbox({
      settings: {sandbox: 'bubblewrap'},
      programDirectories: [programs, '/usr/bin', '/bin', '/usr/sbin', '/sbin'],
    });
    onTestFinished(() => opened.close());
    const ran = await opened.run('sleep 600 & echo out; echo err >&2; exit 3');
    expect(ran).toMatchObject({out: 'out\n', err: 'err\n', exitStatus: {kind: 'exited', code: 3}});
    expect(ran.leftRunning).toHaveLength(1);
    expect(processesWith(`${programs}/bwrap`)).not.toEqual([]);
    unlinkSync(gate);
    await held.close();
    await opened.sandbox.close();
    expect(processesWith(`${programs}/bwrap`)).toEqual([]);
  });
});

function start(script: string): ChildProcess {
  const child = spawn('/bin/sh', ['-c', script], {detached: true, stdio: 'ignore'});
  onTestFinished(() => {
    if (isRunning(child)) child.kill('SIGKILL');
  });
  return child;
}

async function endOf(child: ChildProcess): Promise<number | string | null> {
  if (isRunning(child)) await once(child, 'exit');
  return child.signalCode ?? child.exitCode;
}

const isRunning = (child: ChildProcess): boolean => child.exitCode === null && child.signalCode === null;

const statusOf = ({pid}: ChildProcess): string => `{\n    "child-pid": ${pid}\n}\n`;

test('policy: process 1 is killed, and its parent says so by itself', async () => {
  const [parent, first] = [start('exec sleep 600'), start('exec sleep 600')];
  killSandbox(parent, statusOf(first));
  expect(await endOf(first)).toBe('SIGKILL');
  expect(isRunning(parent)).toBe(true);
});

test('policy: without a process 1 the whole group is killed', async () => {
  const parent = start('exec sleep 600');
  killSandbox(parent, '');
  expect(await endOf(parent)).toBe('SIGKILL');
});

test('policy: a process 1 that has just ended leaves the group to be killed', async () => {
  const [parent, first] = [start('exec sleep 600'), start('exit 0')];
  await endOf(first);
  killSandbox(parent, statusOf(first));
  expect(await endOf(parent)).toBe('SIGKILL');
});

test.each([
  ['ended', 'exit 3', 3],
  ['was killed', 'kill -s TERM $$', 'SIGTERM'],
])('policy: the number of process 1 kills nothing once its parent %s', async (_, script, end) => {
  const [parent, other] = [start(script), start('exec sleep 600')];
  expect(await endOf(parent)).toBe(end);
  killSandbox(parent, statusOf(other));
  // What was killed would have ended by the time that another process has.
  await endOf(start('exit 0'));
  expect(isRunning(other)).toBe(true);
});

test.each(['', '"child-pid": 0', '"child-pid": 1'])('policy: %j names no process 1 of a sandbox', status => {
  const kill = vi.spyOn(process, 'kill').mockReturnValue(true);
  killSandbox({pid: 12_345, exitCode: null, signalCode: null} as ChildProcess, status);
  expect(kill.mock.calls).toEqual([[-12_345, 'SIGKILL']]);
});

describe('bubblewrap commands', () => {
  function open(place: SandboxPlace = {}) {
    const opened = openSandbox({settings: {sandbox: 'bubblewrap'}, ...place});
    onTestFinished(opened.close);
    return opened;
  }

  describe('a command in bubblewrap', needs('bubblewrap'), () => {
    test('W8: what it says and how it ends, and what it leaves', async () => {
      const {run, sandbox} = open();
      expect(await sandbox.probe()).toMatchObject({
        ok: true,
        value: {sandbox: 'bubblewrap', description: expect.stringMatching(/^bubblewrap \d/)},
      });
      // It is a shell before it is what it becomes.
      const leave = 'sleep 600 & until [ "$(cat /proc/$!/comm)" = sleep ]; do :; done';
      expect(await run(`${leave}; echo out; echo err >&2; exit 137`)).toMatchObject({
        ...{sandbox: 'bubblewrap', out: 'out\n', err: 'err\n', exitStatus: {kind: 'exited', code: 137}},
        leftRunning: ['sleep'],
      });
      expect(await run('kill -s TERM $$')).toMatchObject({
        ...{exitStatus: {kind: 'killed', code: 143, signal: 'SIGTERM', outOfMemory: false}, leftRunning: []},
      });
    });

    test('W8: where it runs and with what', async () => {
      const {run} = open({
        settings: {sandbox: 'bubblewrap', path: '/usr/bin:/bin'},
        env: {HOME: '/nonexistent', XDG_CONFIG_HOME: '', GIT_AUTHOR_NAME: 'Ada', SECRET: 'x'},
        prepare: workspace => mkdirSync(join(workspace, 'sub')),
      });
      const show = 'pwd; echo "$HOME $PATH [$SECRET] $A $GIT_AUTHOR_NAME"; cat /etc/gitconfig';
      const config = '[user]\n\tname = "forge-tools"\n\temail = "forge-tools@localhost"\n';
      expect((await run(show)).out).toBe(`/workspace\n/tmp /usr/bin:/bin []  Ada\n${config}`);
      expect((await run(show, {directory: 'sub', env: {A: 'b c'}})).out).toBe(
        `/workspace/sub\n/tmp /usr/bin:/bin [] b c Ada\n${config}`,
      );
    });

    test('W8: its time and its caller end it, with all that it started', async () => {
      const {run} = open();
      const mine = uniqueSleep();
      const late = await run(`sleep ${mine} & sleep ${mine}`, {timeoutMs: 300});
      expect(late).toMatchObject({exitStatus: {kind: 'timeout'}});
      const cancelled = await run(`sleep ${mine}`, {signal: AbortSignal.abort()});
      expect(cancelled).toMatchObject({exitStatus: {kind: 'cancelled'}});
      expect(processesWith(mine)).toEqual([]);
      expect((await run('echo again')).out).toBe('again\n');
    });

    test('W21: it has no ports but its own', async () => {
      const {sandbox} = open();
      const controller = new AbortController();
      let ran: Promise<unknown> | undefined;
      const started = await new Promise<StartedCommand>(onStart => {
        const {signal} = controller;
        ran = sandbox.run({command: 'sleep 600', env: {}, timeoutMs: 60_000, onStart, signal});
      });
      expect([started.sandbox, await started.listeningPorts()]).toEqual(['bubblewrap', []]);
      controller.abort();
      await ran;
    });
  });
});

describe('bubblewrap driver', () => {
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
      ...{
        workspace,
        root: rootIdentity(workspace),
        git: 'read-only',
        protectedPaths,
        sessions: SESSIONS,
        clock,
      },
      log: event => log.push(event),
    });
    const host: SandboxHost = {
      ...{
        workspace,
        protectedPaths,
        sessions: SESSIONS,
        env: {},
        programDirectories: bubblewrap.programs,
        clock,
      },
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

  const ENDED = {
    sandbox: 'bubblewrap',
    exitStatus: {kind: 'exited', code: 0},
    leftRunning: [],
    isTimed: true,
  };
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
        ...{
          exitStatus: {kind: 'exited', code: 7},
          out: 'b c\n',
          err: 'err\n',
          leftRunning: ['sleep', 'make'],
        },
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
      // One may have ended by itself before it was killed.
      const areOver = () =>
        waiting.every(({signalCode, exitCode}) => signalCode !== null || exitCode !== null);
      await expect.poll(areOver, {interval: 5}).toBe(true);
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
      expect(children.filter(({exitCode, signalCode}) => exitCode === null && signalCode === null)).toEqual(
        [],
      );
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
      expect(calls).toContainEqual(['attach', NO_ANSWER_YET]);
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
});

const isRoot = process.getuid?.() === 0;

/** What is found out with these programs instead of those of the system. */
async function setup(scripts: Readonly<Record<string, string>>, place: Partial<SandboxHost> = {}) {
  const programs = temporaryDirectory();
  chmodSync(programs, 0o755);
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(programs, name), `#!/bin/sh\n${script}\n`, {mode: 0o755});
  }
  const log: LogEvent[] = [];
  const host: SandboxHost = {
    ...{
      workspace: temporaryDirectory(),
      protectedPaths: [],
      sessions: SESSIONS,
      env: {},
      programDirectories: [programs],
    },
    ...{clock: systemClock, log: event => log.push(event), machine: {platform: 'linux', arch: 'x64'}},
    ...place,
  };
  if (place.workspace === undefined && isRoot) chownSync(host.workspace, 1001, 1002);
  const found = await bubblewrapSetup(runOptions(), host);
  return {found, said: found.ok ? 'ok' : found.error.message, log, programs};
}

const versionIs = (version: string) => ({bwrap: `echo "bubblewrap ${version}"`, setpriv: 'exit 1'});

test.each([
  ['win32', 'x64'],
  ['linux', 'riscv64'],
  ['darwin', 'arm64'],
])('W8: there is none for %s on %s', async (platform, arch) => {
  const {found, said} = await setup(versionIs('0.9.0'), {machine: {platform, arch}});
  expect(found).toMatchObject({ok: false, error: {code: 'unsupported_platform'}});
  expect(said).toBe(
    `Without Docker there is no sandbox here: bubblewrap needs Linux on x86-64 or ARM64, this is ${platform} on ${arch}. Nothing was run. To fix it: install and start Docker; tools.run.sandbox = "docker" or "auto" takes it.`,
  );
});

test('W8: where it is not installed, that is said with the line that installs it', async () => {
  const {said} = await setup({}, {env: {PATH: ''}});
  expect(said).toBe(
    'bubblewrap is not installed. Nothing was run. To fix it: apt-get install bubblewrap (dnf install bubblewrap, apk add bubblewrap).',
  );
});

test.each(['0.5.9', '0.3', 'x', ''])('W8: version "%s" is not taken', async version => {
  const {said, programs} = await setup(versionIs(version));
  const answer = JSON.stringify(`bubblewrap ${version}`.trim());
  expect(said).toBe(
    `${join(programs, 'bwrap')} says ${answer}, but version 0.6 is needed. Nothing was run. To fix it: install a newer bubblewrap.`,
  );
});

test.each([
  ['0.6.0', false],
  ['0.7', false],
  ['0.8.0', true],
  ['0.11.2', true],
  ['1.0', true],
  ['10.1', true],
])('W8: version %s is taken, and asked to forbid namespaces where it can: %s', async (version, disables) => {
  for (const arch of ['x64', 'arm64'] as const) {
    const {found} = await setup(versionIs(version), {machine: {platform: 'linux', arch}});
    expect(found).toMatchObject({
      ok: true,
      value: {
        ...{version: `bubblewrap ${version}`, commandArgs: commandArguments(disables)},
        filter: seccompFilter(arch, SYSCALL_RULES),
      },
    });
  }
});

test(
  'review R1: whether one runs in another is tried, and a warning says where it does not',
  needs('root'),
  async () => {
    const warning = {level: 'warn', event: 'sandbox_not_nested', sandbox: 'bubblewrap'};
    expect((await setup(versionIs('0.9.0'))).log).toEqual([warning]);
    const able = await setup({...versionIs('0.9.0'), setpriv: 'exit 0'});
    expect(able.found).toMatchObject({ok: true, value: {nests: true}});
  },
);

test('W8: who is not root stays who it is', async () => {
  asUnusedUser();
  // Its answer has nothing of our environment.
  const {found, log} = await setup({bwrap: 'echo "bubblewrap 0.9.0 $HOME"'});
  expect(found).toMatchObject({
    ok: true,
    value: {becomeOwner: [], nests: true, version: 'bubblewrap 0.9.0'},
  });
  expect(log).toEqual([]);
});

test('W8: a workspace of root needs a control group', needs('root'), async () => {
  const {readFile} = promises;
  const spy = vi.spyOn(promises, 'readFile').mockImplementation((async (
    ...call: Parameters<typeof readFile>
  ) => {
    if (call[0] === '/proc/self/cgroup') throw new Error('Expected nobody to look.');
    return readFile(...call);
  }) as typeof readFile);
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
  const workspace = temporaryDirectory();
  expect((await setup(versionIs('0.9.0'), {workspace})).said).toBe(
    `The workspace belongs to root, and there is no control group to limit processes with. Nothing was run. To fix it: give it to a user (chown -R 1000:1000 "${workspace}"), or make /sys/fs/cgroup writable.`,
  );
});

test('W8: root becomes the owner of the workspace, by setpriv', needs('root'), async () => {
  const {found, programs} = await setup(versionIs('0.9.0'));
  expect(found.ok && found.value.becomeOwner).toEqual([
    ...[join(programs, 'setpriv'), '--reuid', '1001', '--regid', '1002', '--clear-groups'],
    ...['--inh-caps=-all', '--'],
  ]);
  const {said} = await setup({bwrap: 'echo "bubblewrap 0.9.0"'}, {env: {PATH: ''}});
  expect(said).toBe(
    'setpriv is not installed, so root cannot become the owner of the workspace. Nothing was run. To fix it: apt-get install util-linux.',
  );
});

test('policy: a pipe to what is asked that breaks is no exception', async () => {
  const children = startedChildren();
  expect((await setup({...versionIs('0.9.0'), setpriv: 'exit 0'})).said).toBe('ok');
  expect(children.length).toBeGreaterThan(1);
  for (const child of children) breakPipes(child);
});
