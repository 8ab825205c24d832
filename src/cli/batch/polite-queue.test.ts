import {describe, expect, test} from 'vitest';
import {createManualClock} from '../../../test/support/manual-clock.ts';
import {PoliteQueue, type Taken} from './polite-queue.ts';

function openQueue(settings: {perHost?: number; delayMs?: number; room?: number} = {}) {
  const clock = createManualClock();
  const queue = new PoliteQueue<number>({perHost: 1, delayMs: 0, room: 100, ...settings, clock});
  const taken: (Taken<number> | undefined)[] = [];
  return {
    clock,
    queue,
    taken,
    items: () => taken.map(one => one?.item),
    /** Starts `count` workers, and lets what can happen happen. */
    take: async (count = 1) => {
      for (let index = 0; index < count; index++) queue.take().then(one => taken.push(one));
      await settle();
    },
  };
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
}

describe('the polite queue', () => {
  test('policy: no more of a host are under way than perHost, however many workers there are', async () => {
    const {queue, take, items} = openQueue({perHost: 2});
    for (let item = 0; item < 5; item++) await queue.offer('a', item);
    await take(4);
    expect(items()).toEqual([0, 1]);
    queue.done('a', true);
    await settle();
    expect(items()).toEqual([0, 1, 2]);
  });

  test('policy: two starts at one host are delayMs apart; other hosts do not wait for it', async () => {
    const {clock, queue, take, items} = openQueue({perHost: 4, delayMs: 250});
    for (const [host, item] of [
      ['a', 1],
      ['a', 2],
      ['b', 3],
    ] as const) {
      await queue.offer(host, item);
    }
    await take(3);
    expect(items()).toEqual([1, 3]);
    clock.advance(249);
    await settle();
    expect(items()).toEqual([1, 3]);
    clock.advance(1);
    await settle();
    expect(items()).toEqual([1, 3, 2]);
  });

  test('policy: hosts take turns, wherever they stand in the list', async () => {
    const {queue, take, items} = openQueue({perHost: 9});
    for (let item = 0; item < 3; item++) await queue.offer('a', item);
    await queue.offer('b', 10);
    await take(4);
    expect(items()).toEqual([0, 10, 1, 2]);
  });

  test('policy: a page from the cache is no reason to wait', async () => {
    const {queue, take, items} = openQueue({delayMs: 250});
    await queue.offer('a', 1);
    await queue.offer('a', 2);
    await take(2);
    queue.done('a', false);
    await settle();
    expect(items()).toEqual([1, 2]);
  });

  test('policy: a host that refuses is left alone for its pause, and the item waits first in line', async () => {
    const {clock, queue, take, items} = openQueue({perHost: 2});
    for (const item of [1, 2, 3]) await queue.offer('a', item);
    await take(1);
    expect(queue.refused('a', 30_000, 1)).toBe(1);
    expect(queue.paused).toBe(1);
    await take(1);
    clock.advance(29_999);
    await settle();
    expect(items()).toEqual([1]);
    clock.advance(1);
    await settle();
    expect(items()).toEqual([1, 1]);
    expect(queue.paused).toBe(0);
  });

  test('policy: refusals of items that were under way together count once; an answer ends the row', async () => {
    const {clock, queue, take} = openQueue({perHost: 3});
    for (const item of [1, 2, 3]) await queue.offer('a', item);
    await take(3);
    expect(queue.refused('a', 1000, 1)).toBe(1);
    expect(queue.refused('a', 1000, 2)).toBe(1);
    queue.done('a', true);
    clock.advance(1000);
    await take(1);
    expect(queue.refused('a', 1000, 1)).toBe(1);
    clock.advance(1000);
    await take(1);
    expect(queue.refused('a', 1000, 1)).toBe(2);
  });

  test('policy: what waits for a host that is set aside is dropped, and what is offered later refused', async () => {
    const {queue, take, items} = openQueue();
    for (const item of [1, 2, 3]) await queue.offer('a', item);
    await take(1);
    expect(queue.setAside('a')).toBe(2);
    expect(queue.hasSetAside('a')).toBe(true);
    expect(await queue.offer('a', 4)).toBe(false);
    queue.done('a', true);
    queue.close();
    await take(1);
    expect(items()).toEqual([1, undefined]);
  });

  test('policy: a full queue makes the reader wait', async () => {
    const {queue, take} = openQueue({room: 2});
    await queue.offer('a', 1);
    await queue.offer('b', 2);
    let offered = false;
    queue.offer('c', 3).then(() => {
      offered = true;
    });
    await settle();
    expect(offered).toBe(false);
    await take(1);
    expect(offered).toBe(true);
    expect(queue.waiting).toBe(2);
  });

  test('policy: workers end when the list has and nothing may come back', async () => {
    const {clock, queue, take, items} = openQueue();
    await queue.offer('a', 1);
    queue.close();
    await take(2);
    expect(items()).toEqual([1]);
    queue.refused('a', 1000, 1);
    clock.advance(1000);
    await settle();
    expect(items()).toEqual([1, 1]);
    queue.done('a', true);
    await take(1);
    expect(items()).toEqual([1, 1, undefined]);
    expect(clock.pending()).toBe(0);
  });

  test('policy: stop sends everybody home and leaves no timer', async () => {
    const {clock, queue, take, items} = openQueue({delayMs: 250, room: 2});
    await queue.offer('a', 1);
    await queue.offer('a', 2);
    await take(3);
    await queue.offer('a', 3);
    const offered = queue.offer('a', 4);
    queue.stop();
    await settle();
    expect(await offered).toBe(false);
    expect(items()).toEqual([1, undefined, undefined]);
    expect(clock.pending()).toBe(0);
  });

  test('policy: a host that is done with takes no memory and no timer', async () => {
    const {clock, queue, take} = openQueue({delayMs: 250});
    for (let item = 0; item < 50; item++) {
      await queue.offer(`host-${item}`, item);
      await take(1);
      queue.done(`host-${item}`, true);
    }
    expect([queue.hosts, clock.pending()]).toEqual([50, 50]);
    clock.advance(250);
    expect([queue.hosts, clock.pending()]).toEqual([0, 0]);
  });
});
