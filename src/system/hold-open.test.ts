import type {ChildProcess} from 'node:child_process';
import {expect, test} from 'vitest';
import {holdOpen} from './hold-open.ts';

test('policy: a child and each of its pipes that can keep our process keep it, or do not', () => {
  const calls: string[] = [];
  const handle = (name: string) => ({
    ref: () => calls.push(`${name} kept`),
    unref: () => calls.push(`${name} let go`),
  });
  const streams = [null, handle('input'), undefined, {unref: () => calls.push('half')}, 'text'];
  const others = [{ref: () => calls.push('half')}, handle('output')];
  const child = {...handle('child'), stdio: [...streams, ...others]} as unknown as ChildProcess;
  holdOpen(child, true);
  expect(calls.splice(0)).toEqual(['child kept', 'input kept', 'output kept']);
  holdOpen(child, false);
  expect(calls).toEqual(['child let go', 'input let go', 'output let go']);
});
