import {getEventListeners} from 'node:events';
import {expect, test} from 'vitest';
import {Places} from './places.ts';

const never = new AbortController().signal;

test('policy: the others wait, and come in their order', async () => {
  const places = new Places();
  const [first, second] = [await places.take(2, never), await places.take(2, never)];
  const came: string[] = [];
  const waiting = ['a', 'b'].map(async name => {
    const giveBack = await places.take(2, never);
    came.push(name);
    return giveBack;
  });
  expect(came).toEqual([]);
  first?.();
  await waiting[0];
  expect(came).toEqual(['a']);
  // Given back twice is given back once.
  first?.();
  second?.();
  await waiting[1];
  expect(came).toEqual(['a', 'b']);
});

test('policy: who leaves before there is a place takes none, and leaves no listener', async () => {
  const places = new Places();
  const first = await places.take(1, never);
  const controller = new AbortController();
  const left = places.take(1, controller.signal);
  const next = places.take(1, never);
  controller.abort();
  expect(await left).toBeUndefined();
  expect(await places.take(1, controller.signal)).toBeUndefined();
  first?.();
  expect(await next).toBeTypeOf('function');
  expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
});

test('policy: a waiter that has left holds up no other', async () => {
  const places = new Places();
  await places.take(2, never);
  const controller = new AbortController();
  const strict = places.take(1, controller.signal);
  const lax = places.take(2, never);
  controller.abort();
  expect(await strict).toBeUndefined();
  expect(await lax).toBeTypeOf('function');
});
