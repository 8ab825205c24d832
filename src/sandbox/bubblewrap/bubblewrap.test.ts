import {spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {chmodSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {createManualClock} from '../../../test/support/manual-clock.ts';
import {openSandbox, runOptions, SESSIONS} from '../../../test/support/open-sandbox.ts';
import {needs} from '../../../test/support/parts.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {type Clock, systemClock} from '../../core/clock.ts';
import {silentLog} from '../../core/log.ts';
import {WorkspaceGuard} from '../guard/guard.ts';
import {rootIdentity} from '../guard/users.ts';
import {BubblewrapSandbox} from './driver.ts';
import {BECOME_IF_PLACED, BECOME_WITH_PIPES, commandScript, INIT, STAY_WITH_PIPES} from './scripts.ts';
import {endSandbox} from './warm.ts';
import {SandboxWatchdog} from './watchdog.ts';

/** When process 1 of each of our sandboxes that wait for a command was started, in ticks. */
function waiting(): readonly string[] {
  return readdirSync('/proc').flatMap(entry => {
    try {
      const isOurs = readFileSync(`/proc/${entry}/cgroup`, 'utf8').includes(`/forge-tools.${process.pid}.`);
      const waits = readFileSync(`/proc/${entry}/cmdline`, 'utf8').startsWith(`/bin/sh\0-c\0${INIT}\0`);
      return isOurs && waits ? [startOf(readFileSync(`/proc/${entry}/stat`, 'utf8'))] : [];
    } catch {
      return [];
    }
  });
}

/** proc(5): field 22. */
const startOf = (stat: string): string => stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';

describe('warm sandboxes', needs('bubblewrap'), () => {
  test('policy: one waits for the next command for less than a minute', needs('control groups'), async () => {
    const workspace = temporaryDirectory();
    let later = 0;
    const clock: Clock = {...systemClock, monotonic: () => systemClock.monotonic() + later};
    const guard = new WorkspaceGuard({
      ...{workspace, root: rootIdentity(workspace), git: 'read-only', protectedPaths: [], sessions: SESSIONS},
      ...{log: silentLog, clock},
    });
    const host = {workspace, protectedPaths: [], sessions: SESSIONS, env: {}, clock, log: silentLog};
    const sandbox = new BubblewrapSandbox(runOptions({sandbox: 'bubblewrap'}), host, guard);
    onTestFinished(async () => {
      await sandbox.close();
      await guard.close();
    });
    const signal = new AbortController().signal;
    const started = async (): Promise<string> => {
      const ran = await sandbox.run({
        command: 'cat /proc/1/stat',
        env: {},
        timeoutMs: 5000,
        signal,
      });
      return ran.ok ? startOf(Buffer.from(ran.value.stdout.bytes).toString()) : 'failed';
    };
    await started();
    await expect.poll(waiting, {timeout: 3000}).not.toEqual([]);
    const young = waiting();
    later += 59_000;
    expect(young).toContain(await started());
    await expect.poll(waiting, {timeout: 3000}).not.toEqual([]);
    const old = waiting();
    later += 60_000;
    expect(old).not.toContain(await started());
  });

  test('ruling W8: a bubblewrap that leaves out our filter is refused before any command', async () => {
    const programs = temporaryDirectory();
    chmodSync(programs, 0o755);
    const withoutFilter = `#!/usr/bin/perl
use POSIX ();
if ($ARGV[0] eq '--args') {
  open(our $profile, '<&=', $ARGV[1]); local $/; my @all = split /\\0/, scalar(<$profile>), -1;
  my ($at) = grep { $all[$_] eq '--seccomp' } 0 .. $#all;
  splice(@all, $at, 2) if defined $at;
  open(my $rest, '+>', undef); print $rest join("\\0", @all); $rest->flush; seek($rest, 0, 0);
  POSIX::dup2(fileno($rest), $ARGV[1]);
}
exec '/usr/bin/bwrap', @ARGV;
`;
    writeFileSync(join(programs, 'bwrap'), withoutFilter, {mode: 0o755});
    const opened = openSandbox({
      settings: {sandbox: 'bubblewrap'},
      programDirectories: [programs, '/usr/bin', '/bin', '/usr/sbin', '/sbin'],
    });
    onTestFinished(() => opened.close());
    const report = await opened.sandbox.probe();
    expect(report.ok ? '' : JSON.stringify(report.error)).toContain(
      'bubblewrap does not confine as it should: no system call filter is installed',
    );
  });
});

describe('endSandbox', () => {
  test('policy: what a sandbox still says when it is ended is read, so that it can end', async () => {
    const child = spawn('/bin/sh', ['-c', 'cat; head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2'], {
      detached: true,
    });
    const watchdog = new SandboxWatchdog();
    onTestFinished(() => watchdog.close());
    const number = await watchdog.add([]);
    const ended = once(child, 'close').then(() => {});
    const sandbox = {
      ...{child, number, group: undefined, channel: undefined, tree: [], startedAt: 0, ended},
      ...{report: Promise.resolve({kind: 'broken'} as const), status: () => ''},
    };
    // Nothing is killed: its clock stands still.
    expect(await endSandbox(sandbox, createManualClock(), watchdog)).toBe(true);
    expect(child.exitCode).toBe(0);
  });
});

/** Process 1 of a sandbox with this on its standard input: what it printed, and the first line of its report. */
function init(
  script: string,
  relay = '',
): {
  readonly out: string;
  readonly started: boolean;
  readonly code: number | null;
  readonly hasNoRelay: boolean;
} {
  const {status, output} = spawnSync('/bin/sh', ['-c', INIT, 'sh', '1024', '0', '0', relay, ''], {
    input: script,
    stdio: ['pipe', 'ignore', 'ignore', 'ignore', 'pipe', 'pipe', 'ignore', 'ignore', 'ignore', 'pipe'],
  });
  const [, out, report] = [0, 4, 9].map(descriptor => String(output[descriptor] ?? ''));
  const lines = report?.split('\n') ?? [];
  const [started, hasNoRelay] = [lines.includes('started'), lines.includes('no relay')];
  return {out: out ?? '', started, code: status, hasNoRelay};
}

const SCRIPT = commandScript({
  command: `printf '%s|' "$A" "$B" 'it'"'"'s'; exit 3`,
  env: {A: `'"$(echo no)\n'`, B: 'b c'},
});

test('policy: the command and its variables arrive as they are', () => {
  expect(init(SCRIPT)).toEqual({
    ...{out: `'"$(echo no)\n'|b c|it's|`, started: true, code: 3, hasNoRelay: false},
  });
});

test('X1: a relay that does not start is in the report', () => {
  expect(init(SCRIPT, 'printf ready')).toMatchObject({code: 3, hasNoRelay: false});
  expect(init(SCRIPT, 'printf steady')).toMatchObject({code: 3, hasNoRelay: true});
});

test('W8: a directory that cannot be entered is the end of a command, and is said', () => {
  const script = commandScript({command: 'echo ran', env: {}, directory: "it's gone"});
  expect(init(script)).toMatchObject({out: '', started: true, code: 126});
});

test.each([
  ['is the program itself', BECOME_WITH_PIPES, true],
  ['stays for the program, where it is process 1', STAY_WITH_PIPES, false],
])('W8: what makes pipes for the output %s', (_, script, becomes) => {
  const program = '[ -p /dev/fd/4 ] && [ -p /dev/fd/5 ] && echo $$ >&4; echo out >&4; echo err >&5; exit 3';
  const {status, output, pid} = spawnSync('/bin/sh', ['-c', script, 'sh', '/bin/sh', '-c', program], {
    stdio: ['ignore', 'pipe', 'pipe', 'ignore', 'ignore', 'ignore', 'pipe'],
  });
  const [number, ...out] = String(output[1]).split('\n');
  expect({status, out, err: String(output[6]), words: String(output[2])}).toEqual({
    ...{status: 3, out: ['out', ''], err: 'err\n', words: ''},
  });
  expect(Number(number) === pid).toBe(becomes);
});

test('review R1: between two bubblewraps nothing goes on in another workspace', () => {
  const {status, output} = spawnSync(
    '/bin/sh',
    ['-c', BECOME_IF_PLACED, 'sh', '1:1', '/bin/sh', '-c', 'echo went on'],
    {stdio: ['ignore', 'pipe', 'ignore', ...Array<'ignore'>(6).fill('ignore'), 'pipe']},
  );
  expect({status, out: String(output[1]), report: String(output[9])}).toEqual({
    ...{status: 0, out: '', report: expect.stringMatching(/^at (?:\d+:\d+)?\nready\n$/)},
  });
});

test('policy: half a script of a host that died runs half a command never', {tags: 'stress'}, () => {
  for (let length = 0; length < SCRIPT.length - 1; length++) {
    const {out, started} = init(SCRIPT.slice(0, length));
    expect({length, out, started}).toEqual({length, out: '', started: false});
  }
});
