import {expect, test} from 'vitest';
import {exitStatusOf} from './exit-status.ts';

const outOfMemory = false;

test('W20: only a death by signal is abnormal, whatever the code', () => {
  for (const code of [0, 1, 124, 127, 129, 137, 139, 143, 255]) {
    expect(exitStatusOf({code, bySignal: false, outOfMemory})).toEqual({kind: 'exited', code});
  }
  expect(exitStatusOf({code: 137, bySignal: true, outOfMemory})).toEqual({
    kind: 'killed',
    code: 137,
    signal: 'SIGKILL',
    outOfMemory: false,
  });
  expect(exitStatusOf({code: 134, bySignal: true, outOfMemory})).toMatchObject({signal: 'SIGABRT'});
});

test('W20: where the shell cannot tell, 128 + N counts as a signal', () => {
  expect(exitStatusOf({code: 139, bySignal: undefined, outOfMemory})).toMatchObject({signal: 'SIGSEGV'});
  expect(exitStatusOf({code: 128, bySignal: undefined, outOfMemory})).toEqual({kind: 'exited', code: 128});
});

test('ruling W8 out of memory counts where the command failed for it', () => {
  expect(exitStatusOf({code: 2, bySignal: false, outOfMemory: true})).toEqual({
    kind: 'killed',
    code: 2,
    signal: 'SIGKILL',
    outOfMemory: true,
  });
  expect(exitStatusOf({code: 0, bySignal: false, outOfMemory: true})).toEqual({kind: 'exited', code: 0});
});
