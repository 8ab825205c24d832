import {setImmediate} from 'node:timers/promises';
import {expect, test} from 'vitest';
import {createManualClock} from '../../../test/support/manual-clock.ts';
import {WaitingSandboxes} from './waiting-sandboxes.ts';
import type {WarmSandbox} from './warm-sandbox.ts';

/** A promise that is kept when it is told to. */
function work<Value>(value: Value) {
  let end = (): void => {};
  const ended = new Promise<Value>(resolve => {
    end = () => resolve(value);
  });
  return {run: () => ended, end};
}

function open() {
  const clock = createManualClock();
  const waiting = new WaitingSandboxes(clock);
  let made = 0;
  const make = () => {
    made += 1;
    return Promise.resolve({number: made} as WarmSandbox);
  };
  return {clock, waiting, make, made: () => made};
}

const numbersOf = async (sandboxes: readonly Promise<WarmSandbox | undefined>[]) =>
  (await Promise.all(sandboxes)).map(sandbox => sandbox?.number);

test('policy: after a short command two are made, once its answer is out, and taken in that order', async () => {
  const {waiting, make, made} = open();
  expect(waiting.takeOldest()).toBeUndefined();
  expect(await waiting.whileRunning(make, async () => 'ran')).toBe('ran');
  expect(made()).toBe(0);
  await setImmediate();
  expect(made()).toBe(2);
  const first = waiting.takeOldest();
  expect((await first)?.number).toBe(1);
  // Only what lacks is made.
  await waiting.whileRunning(make, async () => 'ran');
  await setImmediate();
  expect(made()).toBe(3);
  expect(await numbersOf(waiting.takeAll())).toEqual([2, 3]);
  expect(waiting.takeAll()).toEqual([]);
});

test('policy: beside a command that runs for longer they are made once, after 10 ms', async () => {
  const {clock, waiting, make, made} = open();
  const {run, end} = work('ran');
  const ran = waiting.whileRunning(make, run);
  clock.advance(9);
  expect(made()).toBe(0);
  clock.advance(1);
  expect(made()).toBe(2);
  waiting.takeAll();
  end();
  await ran;
  await setImmediate();
  expect(made()).toBe(2);
  // And a command that has ended leaves nothing to be made later.
  clock.advance(1000);
  expect(made()).toBe(2);
});

test('policy: none is made while a call waits for its sandbox, or a command has just begun', async () => {
  const {clock, waiting, make, made} = open();
  const [taking, running] = [work('taken'), work('ran')];
  const taken = waiting.whileTaking(taking.run);
  await waiting.whileRunning(make, async () => 'ran');
  await setImmediate();
  expect(made()).toBe(0);
  const ran = waiting.whileRunning(make, running.run);
  taking.end();
  expect(await taken).toBe('taken');
  await waiting.whileRunning(make, async () => 'ran');
  await setImmediate();
  expect(made()).toBe(0);
  clock.advance(10);
  expect(made()).toBe(2);
  running.end();
  await ran;
});

test('policy: what a call or a command throws is thrown on, and counts no longer', async () => {
  const {clock, waiting, make, made} = open();
  const fails = () => Promise.reject(new Error('It failed.'));
  await expect(waiting.whileTaking(fails)).rejects.toThrow('It failed.');
  await expect(waiting.whileRunning(make, fails)).rejects.toThrow('It failed.');
  await setImmediate();
  expect(made()).toBe(2);
  clock.advance(10);
  expect(made()).toBe(2);
});

test('policy: once it is closed none is made', async () => {
  const {waiting, make, made} = open();
  waiting.close();
  await waiting.whileRunning(make, async () => 'ran');
  await setImmediate();
  expect(made()).toBe(0);
});
