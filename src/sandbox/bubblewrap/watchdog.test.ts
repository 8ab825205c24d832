import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {startedChildren} from '../../../test/support/started-children.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {SandboxWatchdog} from './watchdog.ts';

/** A process group of the test's own, in the place of a sandbox. */
function startGroup(): ChildProcess {
  const child = spawn('/bin/sleep', ['600'], {detached: true, stdio: 'ignore'});
  onTestFinished(() => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  });
  return child;
}

/** How it ended: a signal. */
async function endOf(child: ChildProcess): Promise<string | null> {
  if (child.signalCode === null) await once(child, 'exit');
  return child.signalCode;
}

function openWatchdog(): SandboxWatchdog {
  const watchdog = new SandboxWatchdog();
  onTestFinished(() => watchdog.close());
  return watchdog;
}

/** What runs the script of a watchdog, and was started by this process. */
function watchdogs(): readonly number[] {
  return readdirSync('/proc')
    .filter(entry => /^\d+$/.test(entry))
    .filter(entry => {
      try {
        const isOurs = statOf(entry)[1] === String(process.pid);
        return isOurs && readFileSync(`/proc/${entry}/cmdline`, 'utf8').includes('cgroup.procs');
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** State, parent and process group. */
function statOf(pid: number | string): readonly string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** The one that has come since. */
function newcomer(before: readonly number[]): number {
  const [pid] = watchdogs().filter(other => !before.includes(other));
  if (pid === undefined) throw new Error('Expected a watchdog to run.');
  return pid;
}

describe('SandboxWatchdog', () => {
  test('review R14: what is on its list when it closes is killed, and its control groups are taken away', async () => {
    const watchdog = openWatchdog();
    const groups = ['a', 'b'].map(name => join(temporaryDirectory(), name));
    for (const group of groups) mkdirSync(group);
    const child = startGroup();
    const sandbox = await watchdog.add(groups);
    await watchdog.lead(sandbox, child.pid ?? 0);
    await watchdog.close();
    expect(await endOf(child)).toBe('SIGKILL');
    expect(groups.map(group => existsSync(group))).toEqual([false, false]);
  });

  test('review R14: only what has been removed from the list is left alone', async () => {
    const watchdog = openWatchdog();
    const children = [startGroup(), startGroup(), startGroup()];
    const groups = [temporaryDirectory(), temporaryDirectory(), temporaryDirectory()];
    const numbers: number[] = [];
    for (const [at, child] of children.entries()) {
      const number = await watchdog.add([groups[at] ?? '']);
      await watchdog.lead(number, child.pid ?? 0);
      numbers.push(number);
    }
    expect(new Set(numbers).size).toBe(3);
    watchdog.remove(numbers[1] ?? 0);
    // What is not on the list any more is not an error.
    watchdog.remove(numbers[1] ?? 0);
    await watchdog.close();
    const [first, second, third] = children;
    expect([await endOf(first as ChildProcess), await endOf(third as ChildProcess)]).toEqual([
      'SIGKILL',
      'SIGKILL',
    ]);
    expect(second?.signalCode).toBeNull();
    expect(groups.map(group => existsSync(group))).toEqual([false, true, false]);
  });

  test('review R14: one that was just killed is started again with the whole list', async () => {
    const before = watchdogs();
    const watchdog = openWatchdog();
    const [child, later] = [startGroup(), startGroup()];
    const group = temporaryDirectory();
    await watchdog.lead(await watchdog.add([group]), child.pid ?? 0);
    const gone = await watchdog.add([]);
    watchdog.remove(gone);
    const killed = newcomer(before);
    process.kill(killed, 'SIGKILL');
    // Its pipe is closed then, and Node may not have heard of its end.
    await expect.poll(watchdogs, {interval: 1}).not.toContain(killed);
    const [number] = await Promise.all([watchdog.add([]), watchdog.add([])]);
    await watchdog.lead(number, later.pid ?? 0);
    expect(watchdogs().length - before.length).toBe(1);
    expect(child.signalCode).toBeNull();
    await watchdog.close();
    expect([await endOf(child), await endOf(later)]).toEqual(['SIGKILL', 'SIGKILL']);
    expect(existsSync(group)).toBe(false);
  });

  test('review R14: it leads a group of its own, holds no directory, and has nothing of our environment', async () => {
    const before = watchdogs();
    const watchdog = openWatchdog();
    await watchdog.add([]);
    const pid = newcomer(before);
    expect(readlinkSync(`/proc/${pid}/cwd`)).toBe('/');
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain('FORGE');
    expect(statOf(pid)[2]).toBe(String(pid));
    expect(watchdogs().length - before.length).toBe(1);
    await watchdog.add([]);
    expect(watchdogs().length - before.length).toBe(1);
    await watchdog.close();
    expect(watchdogs()).not.toContain(pid);
  });

  test('policy: it keeps nothing of ours: no process, no output, no exception', async () => {
    const children = startedChildren();
    const kept = () =>
      process.getActiveResourcesInfo().filter(name => /^(?:Process|Pipe)Wrap$/.test(name)).length;
    const before = kept();
    const watchdog = openWatchdog();
    await watchdog.add([]);
    await expect.poll(kept, {interval: 1}).toBeLessThanOrEqual(before);
    const [child] = children;
    expect(children).toHaveLength(1);
    expect([child?.stdout?.destroyed, child?.stderr?.destroyed]).toEqual([true, true]);
    child?.emit('error', new Error('spawn'));
    // And is waited for when it closes.
    await watchdog.close();
    expect(child?.exitCode).toBe(0);
  });

  test('policy: one that never had anything to watch closes at once, twice', async () => {
    const watchdog = new SandboxWatchdog();
    await watchdog.close();
    await watchdog.add([]);
    await watchdog.close();
    await watchdog.close();
  });
});
