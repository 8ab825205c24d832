import {execFileSync} from 'node:child_process';
import {chmodSync, readdirSync, readFileSync, unlinkSync, writeFileSync} from 'node:fs';
import {open} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {openSandbox, processesWith, runOptions} from '../../../test/support/open-sandbox.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {systemClock} from '../../core/clock.ts';
import {silentLog} from '../../core/log.ts';
import {rootIdentity} from '../guard/root-identity.ts';
import {WorkspaceGuard} from '../guard/workspace-guard.ts';
import {BubblewrapSandbox} from './bubblewrap.ts';

const hasBubblewrap = process.env['FORGE_TEST_BWRAP'] !== undefined;

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

describe.runIf(hasBubblewrap)('BubblewrapSandbox', () => {
  test('policy: a warm sandbox process ends with the call for which the workspace cannot be looked at', async () => {
    const workspace = temporaryDirectory();
    const guard = new StarvedGuard({
      workspace,
      root: rootIdentity(workspace),
      git: 'read-only',
      protectedPaths: [],
      log: silentLog,
      clock: systemClock,
    });
    const host = {workspace, protectedPaths: [], env: {}, clock: systemClock, log: silentLog};
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
  });

  test('policy: two sandboxes wait after a command, for two that follow each other at once, and end with the session', async () => {
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
  });

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
