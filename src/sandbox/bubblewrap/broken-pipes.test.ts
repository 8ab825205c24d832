import type {ChildProcess} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {Socket} from 'node:net';
import {join} from 'node:path';
import {Readable} from 'node:stream';
import {describe, expect, onTestFinished, test} from 'vitest';
import {runOptions, SESSIONS} from '../../../test/support/open-sandbox.ts';
import {needs} from '../../../test/support/parts.ts';
import {startedChildren} from '../../../test/support/started-children.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {systemClock} from '../../core/clock.ts';
import {silentLog} from '../../core/log.ts';
import {WorkspaceGuard} from '../guard/guard.ts';
import {rootIdentity} from '../guard/users.ts';
import {BubblewrapSandbox} from './driver.ts';
import {DESCRIPTORS} from './scripts.ts';
import {WARM_SANDBOXES} from './warm.ts';

/** Which part that comes through which descriptor is lost with its pipe, in the sandboxes that are started next. */
let broken: {readonly descriptor: number; readonly part: number} | undefined;

function breakAt(stream: Readable, part: number): void {
  const push = stream.push.bind(stream);
  let parts = 0;
  stream.push = (chunk, encoding) => {
    parts += 1;
    if (parts !== part) return push(chunk, encoding);
    stream.destroy(Object.assign(new Error('read ECONNRESET'), {code: 'ECONNRESET', syscall: 'read'}));
    return false;
  };
}

async function openBubblewrap() {
  const children = startedChildren(child => {
    const stream = broken && child.stdio.at(broken.descriptor);
    if (broken !== undefined && stream instanceof Readable) breakAt(stream, broken.part);
  });
  const workspace = temporaryDirectory();
  const log = silentLog;
  const clock = systemClock;
  const root = rootIdentity(workspace);
  const guard = new WorkspaceGuard({
    workspace,
    root,
    git: 'read-only',
    protectedPaths: [],
    sessions: SESSIONS,
    log,
    clock,
  });
  const host = {workspace, protectedPaths: [], sessions: SESSIONS, env: {}, clock, log};
  const sandbox = new BubblewrapSandbox(runOptions({sandbox: 'bubblewrap'}), host, guard);
  onTestFinished(async () => {
    broken = undefined;
    await sandbox.close();
    await guard.close();
  });
  const run = (command: string) =>
    sandbox.run({command, env: {}, timeoutMs: 60_000, signal: new AbortController().signal});
  /** Those that wait, once they have said what they have: the next command gets one of them. */
  const warmProcesses = async (): Promise<readonly ChildProcess[]> => {
    children.splice(0);
    await sandbox.probe();
    for (;;) {
      // The first was the probe's.
      const [, ...waiting] = children.filter(child => child.stdio.at(DESCRIPTORS.report) instanceof Socket);
      const said = waiting.flatMap(child =>
        [DESCRIPTORS.status, DESCRIPTORS.report].map(descriptor => child.stdio.at(descriptor)),
      );
      if (
        waiting.length === WARM_SANDBOXES &&
        said.every(stream => stream instanceof Socket && stream.bytesRead > 0)
      )
        return waiting;
      await new Promise(resolve => setImmediate(resolve));
    }
  };
  return {
    run,
    warmProcesses,
    children,
    written: (path: string) => readFileSync(join(workspace, path), 'utf8'),
  };
}

const COMMAND = 'echo said; echo kept >>file; sleep 0.1; exit 3';

describe('a pipe of a sandbox process that breaks', needs('bubblewrap'), () => {
  test.each(['stdout', 'errors', 'status', 'report'] as const)(
    'policy: its %s, while a command runs: the answer is that of the command',
    async name => {
      const {run, warmProcesses, written} = await openBubblewrap();
      for (const sandboxProcess of await warmProcesses()) {
        breakAt(sandboxProcess.stdio.at({stdout: 1, ...DESCRIPTORS}[name]) as Readable, 1);
      }
      const ran = await run(COMMAND);
      expect(ran.ok && ran.value.exitStatus).toEqual({kind: 'exited', code: 3});
      expect(ran.ok && Buffer.from(ran.value.stdout.bytes).toString()).toBe(
        name === 'stdout' ? '' : 'said\n',
      );
      expect(written('file')).toBe('kept\n');
    },
  );

  test.each(['status', 'report'] as const)(
    'policy: its %s, while it starts: a failure at once, and the next call is answered',
    async name => {
      const {run, written} = await openBubblewrap();
      broken = {descriptor: DESCRIPTORS[name], part: 1};
      const refused = await run(COMMAND);
      expect(refused.ok || refused.error.code).toBe('sandbox_error');
      expect(refused.ok || refused.error.message).toContain(
        'A pipe to the sandbox process broke before the command was sent',
      );
      broken = undefined;
      const ran = await run(COMMAND);
      expect(ran.ok && ran.value.exitStatus).toEqual({kind: 'exited', code: 3});
      expect(written('file')).toBe('kept\n');
    },
  );

  test.each(['status', 'report'] as const)(
    'policy: its %s, while it waits: the command gets another sandbox process',
    async name => {
      const {run, warmProcesses, children, written} = await openBubblewrap();
      for (const sandboxProcess of await warmProcesses()) {
        sandboxProcess.stdio.at(DESCRIPTORS[name])?.destroy(new Error('read ECONNRESET'));
      }
      const ran = await run(COMMAND);
      expect(ran.ok && ran.value.exitStatus).toEqual({kind: 'exited', code: 3});
      expect(written('file')).toBe('kept\n');
      expect(
        children.filter(child => child.stdio.at(DESCRIPTORS.report) instanceof Socket).length,
      ).toBeGreaterThan(1 + WARM_SANDBOXES);
    },
  );
});
