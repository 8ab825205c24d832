import {expect, test} from 'vitest';
import {sandboxFailure} from './sandbox-failure.ts';
import {workspaceMoves} from './workspace-moves.ts';

test('ruling W8 a failure says that nothing was run, what to do, and the words of what refused', () => {
  const {error} = sandboxFailure({problem: 'P', remedy: 'R.', error: ` ${'e'.repeat(600)}`, tried: ['a']});
  expect(error).toMatchObject({code: 'sandbox_error', message: 'P. Nothing was run. To fix it: R.'});
  expect(error.details).toEqual({error: 'e'.repeat(500), remedy: 'R.', tried: ['a']});
  expect(sandboxFailure({problem: 'P', remedy: 'R.', error: ' \n'}).error.details['error']).toBe('P');
  expect(sandboxFailure({problem: 'P', remedy: 'R.'}).error.details['error']).toBe('P');
});

test('review R1: a part that moves is named', () => {
  expect(workspaceMoves('a"b').error.message).toBe(
    '"a\\"b" in the workspace is moved or replaced while it is being mounted. Nothing was run. To fix it: end what moves it (a command of another session, a build outside), and call again.',
  );
});
