import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {chmodSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {createManualClock} from '../../../test/support/manual-clock.ts';
import {openSandbox, runOptions} from '../../../test/support/open-sandbox.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {type Clock, systemClock} from '../../core/clock.ts';
import {silentLog} from '../../core/log.ts';
import {rootIdentity} from '../guard/root-identity.ts';
import {WorkspaceGuard} from '../guard/workspace-guard.ts';
import {BubblewrapSandbox} from './bubblewrap.ts';
import {INIT} from './bubblewrap-scripts.ts';
import {SandboxWatchdog} from './sandbox-watchdog.ts';
import {endSandbox} from './warm-sandbox.ts';

const hasBubblewrap = process.env['FORGE_TEST_BWRAP'] !== undefined;

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

describe.runIf(hasBubblewrap)('warm sandboxes', () => {
  test('policy: one waits for the next command for less than a minute', async () => {
    const workspace = temporaryDirectory();
    let later = 0;
    const clock: Clock = {...systemClock, monotonic: () => systemClock.monotonic() + later};
    const guard = new WorkspaceGuard({
      ...{workspace, root: rootIdentity(workspace), git: 'read-only', protectedPaths: []},
      ...{log: silentLog, clock},
    });
    const host = {workspace, protectedPaths: [], env: {}, clock, log: silentLog};
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
