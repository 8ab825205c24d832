import {expect, test} from 'vitest';
import {exitEnding} from './exit-ending.ts';

test('ruling W8 an exit code is an answer, 128 + N is a death by signal', () => {
  for (const code of [0, 1, 2, 124, 127, 128, 200, 255]) {
    expect(exitEnding(code, false)).toEqual({kind: 'exited', code});
  }
  expect(exitEnding(137, false)).toEqual({kind: 'killed', code: 137, signal: 'SIGKILL', outOfMemory: false});
  expect(exitEnding(134, false)).toMatchObject({signal: 'SIGABRT'});
  expect(exitEnding(139, false)).toMatchObject({signal: 'SIGSEGV'});
});

test('ruling W8 out of memory counts where the command failed for it', () => {
  expect(exitEnding(2, true)).toEqual({kind: 'killed', code: 2, signal: 'SIGKILL', outOfMemory: true});
  expect(exitEnding(0, true)).toEqual({kind: 'exited', code: 0});
});
