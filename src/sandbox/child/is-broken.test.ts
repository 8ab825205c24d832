import type {ChildProcess} from 'node:child_process';
import {once} from 'node:events';
import {PassThrough, Writable} from 'node:stream';
import {expect, test} from 'vitest';
import {hasEnded} from './has-ended.ts';
import {isBroken} from './is-broken.ts';

const childWith = (...stdio: readonly unknown[]) => ({stdio}) as unknown as ChildProcess;

test('policy: a pipe that failed is broken, and none that ended, goes on or was never there', async () => {
  const [failed, ended] = [new PassThrough().on('error', () => {}), new PassThrough()];
  failed.destroy(new Error('read ECONNRESET'));
  ended.resume().end();
  await once(ended, 'end');
  const child = childWith(null, failed, ended, new PassThrough(), undefined);
  expect([0, 1, 2, 3, 4, 5].map(descriptor => isBroken(child, descriptor))).toEqual([
    ...[false, true, false, false, false, false],
  ]);
});

test('policy: an output has ended when all of it was read', async () => {
  const [read, unread] = [new PassThrough(), new PassThrough()];
  read.resume().end('x');
  unread.end('x');
  await once(read, 'end');
  const child = childWith(new Writable(), read, unread, null);
  expect([0, 1, 2, 3, 4].map(descriptor => hasEnded(child, descriptor))).toEqual([
    ...[false, true, false, false, false],
  ]);
});
