import {once} from 'node:events';
import fs, {readdirSync} from 'node:fs';
import {syncBuiltinESMExports} from 'node:module';
import type {Readable, Writable} from 'node:stream';
import {text} from 'node:stream/consumers';
import {expect, test, vi} from 'vitest';
import {endGroup} from './end-group.ts';
import {type ChildPlan, startChild} from './start-child.ts';

function start(script: string, plan: Partial<ChildPlan> = {}) {
  return startChild({program: '/bin/sh', args: ['-c', script], env: {A: 'b'}, cwd: '/', ...plan});
}

const said = (stream: unknown): Promise<string> => text(stream as Readable);

test('policy: a child has nothing to read, two pipes to write to, and no more than was planned', async () => {
  const child = start(`cat; pwd; echo "$A [$PATH]"; /bin/ls -l /proc/self/fd; echo err >&2`);
  const [out, err] = await Promise.all([child.stdout, child.stderr].map(stream => said(stream)));
  expect([child.stdin, err]).toEqual([null, 'err\n']);
  const [place, variables, , ...links] = (out ?? '').trim().split('\n');
  expect([place, variables?.split(' ')[0]]).toEqual(['/', 'b']);
  const open = links.map(link => link.split(' ').slice(-3)).map(([descriptor, , what]) => [descriptor, what]);
  const others = open.filter(([descriptor]) => !['1', '2'].includes(descriptor ?? ''));
  // What this process has inherited itself leads to nothing in the child. One more is the directory that is listed.
  expect(others.filter(([, what]) => what !== '/dev/null')).toEqual([['3', expect.stringMatching(/fd$/)]]);
  expect(open).toContainEqual(['0', '/dev/null']);
});

test('policy: a descriptor that was planned is a pipe, whatever lies below it is closed or nothing', async () => {
  const child = start('cat <&6; echo nine >&9', {pipes: [6, 9]});
  const [, , , three, four, , six, , eight, nine]: readonly unknown[] = child.stdio;
  expect([three, four, eight]).toEqual([null, null, null]);
  // Both from the start on: what nobody reads when the child ends, Node throws away.
  const heard = Promise.all([said(child.stdout), said(nine)]);
  (six as Writable).end('six\n');
  expect(await heard).toEqual(['six\n', 'nine\n']);
});

test('policy: one that leads a group is not ended with ours', async () => {
  const group = async (detached: boolean) => {
    const child = start('read -r x y z state group rest </proc/self/stat; echo "$group"; cat', {
      ...{pipes: [0], ...(detached && {detached})},
    });
    const [said] = await once(child.stdout ?? child, 'data');
    const isOwn = Number(String(said)) === child.pid;
    if (isOwn) endGroup(child);
    else child.kill('SIGKILL');
    return isOwn;
  };
  expect(await group(true)).toBe(true);
  expect(await group(false)).toBe(false);
});

test('policy: a pipe that breaks is an end and no exception', async () => {
  const child = start('sleep 600', {pipes: [0]});
  for (const stream of child.stdio) {
    stream?.emit('error', new Error('read ECONNRESET'));
    stream?.destroy();
  }
  child.kill('SIGKILL');
  await once(child, 'close');
  expect(child.signalCode).toBe('SIGKILL');
});

test('policy: what the system refuses is thrown, and nothing stays open', () => {
  const open = () => readdirSync('/proc/self/fd').length;
  const before = open();
  expect(() => start('true', {env: {A: 'x'.repeat(3_000_000)}})).toThrow('E2BIG');
  expect(open()).toBe(before);
});

test('policy: a system that complains when we close what the child has takes nothing back', async () => {
  const complain = (error: Error) => {
    const {closeSync} = fs;
    const spy = vi.spyOn(fs, 'closeSync').mockImplementation(descriptor => {
      closeSync(descriptor);
      throw error;
    });
    syncBuiltinESMExports();
    return () => {
      spy.mockRestore();
      syncBuiltinESMExports();
    };
  };
  let restore = complain(Object.assign(new Error('close EIO'), {syscall: 'close'}));
  const child = start('echo runs');
  restore();
  expect(await said(child.stdout)).toBe('runs\n');
  restore = complain(new Error('A bug.'));
  expect(() => start('true')).toThrow('A bug.');
  restore();
});
