import {expect, test} from 'vitest';
import {fail} from '../failure/fail.ts';
import {ok, type Result} from '../result.ts';
import {rememberSuccess} from './remember-success.ts';

test('review B5: a failure and a throw are forgotten, a success is kept', async () => {
  const outcomes: (() => Result<string>)[] = [
    () => {
      throw new SyntaxError('half a line');
    },
    () => fail('io_error', 'No.'),
    () => ok('there'),
    () => ok('never asked for'),
  ];
  const work = rememberSuccess(async () => outcomes.shift()?.() ?? ok('none'));
  await expect(work()).rejects.toThrow('half a line');
  expect(await work()).toMatchObject({ok: false});
  expect(await work()).toEqual(ok('there'));
  expect(await work()).toEqual(ok('there'));
});

test('callers at the same time share one try', async () => {
  let tries = 0;
  const work = rememberSuccess(async () => {
    tries += 1;
    return fail('io_error', `Try ${tries}.`);
  });
  await Promise.all([work(), work(), work()]);
  expect(tries).toBe(1);
});
