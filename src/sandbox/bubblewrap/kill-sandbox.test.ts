import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {expect, onTestFinished, test, vi} from 'vitest';
import {killSandbox} from './kill-sandbox.ts';

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
