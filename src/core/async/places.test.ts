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

test('policy: a preemptible place is taken while one is free, and given up as soon as another one waits', async () => {
  const places = new Places();
  let asked = 0;
  const giveBack = places.tryTakePreemptible(2, () => {
    asked += 1;
    giveBack?.();
  });
  expect(giveBack).toBeDefined();
  const first = await places.take(2, never);
  expect(asked).toBe(0);
  expect(places.tryTakePreemptible(2, () => {})).toBeUndefined();
  expect(await places.take(2, never)).toBeTypeOf('function');
  expect(asked).toBe(1);
  first?.();
  expect(places.tryTake(2)).toBeTypeOf('function');
});

test('policy: who gives a preemptible place up in its own time is asked once, and the next one waits for that', async () => {
  const places = new Places();
  const asked: string[] = [];
  const holding = ['a', 'b'].map(name => places.tryTakePreemptible(2, () => asked.push(name)));
  const waiting = [1, 2].map(() => places.take(1, never));
  expect(asked).toEqual(['a', 'b']);
  for (const giveBack of holding) giveBack?.();
  (await waiting[0])?.();
  expect(await waiting[1]).toBeTypeOf('function');
  expect(asked).toEqual(['a', 'b']);
});
