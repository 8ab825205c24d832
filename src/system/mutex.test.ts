import {expect, test} from 'vitest';
import {Mutex} from './mutex.ts';

test('policy: holders of one key come one after the other, in order; another key does not wait', async () => {
  const mutex = new Mutex();
  const order: string[] = [];
  const first = await mutex.take('a');
  const second = mutex.take('a').then(release => {
    order.push('second');
    return release;
  });
  const third = mutex.take('a').then(() => order.push('third'));
  const other = await mutex.take('b');
  order.push('other');
  expect(other).toBeDefined();
  first?.();
  (await second)?.();
  await third;
  expect(order).toEqual(['other', 'second', 'third']);
});

test('policy: a waiter that gives up lets no other in early', async () => {
  const mutex = new Mutex();
  const first = await mutex.take('a');
  const controller = new AbortController();
  const given = mutex.take('a', controller.signal);
  let entered = false;
  const third = mutex.take('a').then(() => {
    entered = true;
  });
  controller.abort();
  expect(await given).toBeUndefined();
  expect(entered).toBe(false);
  first?.();
  await third;
  expect(entered).toBe(true);
  expect(await mutex.take('a', AbortSignal.abort())).toBeUndefined();
});
