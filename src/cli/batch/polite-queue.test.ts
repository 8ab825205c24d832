import {expect, test} from 'vitest';
import {createManualClock} from '../../../test/support/manual-clock.ts';
import type {LeasedUrl} from '../toolbox-services.ts';
import {PoliteQueue, type PoliteQueueSettings} from './polite-queue.ts';

function openQueue(settings: Partial<PoliteQueueSettings> = {}) {
  const clock = createManualClock();
  const aside: string[] = [];
  const onAside = (host: string, pauseMs: number) => void aside.push(`${host} ${pauseMs}`);
  const queue = new PoliteQueue({perHost: 1, delayMs: 0, room: 100, clock, onAside, ...settings});
  const active: LeasedUrl[] = [];
  const end = (
    outcome: 'done' | 'again' | 'failed' | 'aside',
    url: string,
    refusalMs?: number,
    asked = true,
  ) => {
    const [leased] = active.splice(
      active.findIndex(one => one.url === url),
      1,
    );
    if (leased === undefined) throw new Error(`Expected ${url} to be under way`);
    return queue.finish([{leased, outcome, refusalMs, asked}]);
  };
  return {
    clock,
    queue,
    aside,
    /** What `most` workers get now. */
    async take(most: number) {
      const taken = await queue.take(most);
      if (!taken.ok) throw new Error(taken.error.message);
      active.push(...taken.value.urls);
      return taken.value.urls.map(({url}) => url);
    },
    async state() {
      const taken = await queue.take(0);
      return taken.ok && taken.value.state;
    },
    done: (url: string, asked = true) => end('done', url, undefined, asked),
    refused: (url: string, pauseMs: number, outcome: 'again' | 'failed' | 'aside' = 'again') =>
      end(outcome, url, pauseMs),
    async offer(...urls: readonly string[]) {
      for (const url of urls) await queue.offer(url[0] ?? '', url);
    },
  };
}

test('policy: no more of a host are under way than perHost, however many workers there are', async () => {
  const {offer, take, done} = openQueue({perHost: 2});
  await offer('a0', 'a1', 'a2', 'a3');
  expect(await take(4)).toEqual(['a0', 'a1']);
  expect(await take(4)).toEqual([]);
  await done('a0');
  expect(await take(4)).toEqual(['a2']);
});

test('policy: two starts at one host are delayMs apart; other hosts do not wait for it', async () => {
  const {clock, offer, take} = openQueue({perHost: 4, delayMs: 250});
  await offer('a1', 'a2', 'b3');
  expect(await take(3)).toEqual(['a1', 'b3']);
  clock.advance(249);
  expect(await take(3)).toEqual([]);
  clock.advance(1);
  expect(await take(3)).toEqual(['a2']);
});

test('policy: hosts take turns, wherever they stand in the list', async () => {
  const {offer, take} = openQueue({perHost: 9});
  await offer('a0', 'a1', 'a2', 'b0');
  expect(await take(2)).toEqual(['a0', 'b0']);
  expect(await take(2)).toEqual(['a1', 'a2']);
});

test('policy: a page from the cache is no reason to wait', async () => {
  const {offer, take, done} = openQueue({delayMs: 250});
  await offer('a1', 'a2');
  expect(await take(2)).toEqual(['a1']);
  await done('a1', false);
  expect(await take(2)).toEqual(['a2']);
});

test('policy: a host that refuses is left alone for its pause, and the page waits first in line', async () => {
  const {clock, queue, offer, take, refused} = openQueue();
  await offer('a1', 'a2', 'a3');
  await take(1);
  await refused('a1', 30_000);
  expect(queue.paused).toBe(1);
  clock.advance(29_999);
  expect(await take(1)).toEqual([]);
  clock.advance(1);
  expect(await take(1)).toEqual(['a1']);
  expect(queue.paused).toBe(0);
});

test('policy: a host that refuses six times in a row is given up; refusals together count once, an answer ends the row', async () => {
  const {clock, aside, offer, take, done, refused} = openQueue({perHost: 2});
  await offer('a1', 'a2', 'a3');
  const refuseBoth = async (): Promise<void> => {
    const urls = await take(2);
    expect(urls).toHaveLength(2);
    for (const url of urls) await refused(url, 1000);
    clock.advance(1000);
  };
  for (let times = 0; times < 5; times += 1) await refuseBoth();
  const [answered = ''] = await take(1);
  await done(answered);
  for (let times = 0; times < 5; times += 1) await refuseBoth();
  expect(aside).toEqual([]);
  await take(1);
  const [last = ''] = await take(1);
  await refused(last, 1000);
  expect(aside).toEqual(['a 1000']);
});

test('policy: what waits for a host that is set aside is dropped, and what is offered later too', async () => {
  const {queue, aside, offer, take, refused, state} = openQueue();
  await offer('a1', 'a2', 'a3');
  await take(1);
  await refused('a1', 3_600_000, 'aside');
  expect(aside).toEqual(['a 3600000']);
  await offer('a4');
  expect(queue.waiting).toBe(0);
  queue.close();
  expect(await state()).toBe('finished');
});

test('policy: a full queue makes the reader wait', async () => {
  const {queue, offer, take} = openQueue({room: 2});
  await offer('a1', 'b2');
  let offered = false;
  const third = offer('c3').then(() => {
    offered = true;
  });
  await new Promise(resolve => setImmediate(resolve));
  expect(offered).toBe(false);
  await take(1);
  await third;
  expect(queue.waiting).toBe(2);
});

test('policy: it is finished when the list is and nothing may come back', async () => {
  const {clock, queue, offer, take, done, refused, state} = openQueue();
  await offer('a1');
  expect(await take(1)).toEqual(['a1']);
  queue.close();
  await refused('a1', 1000);
  expect(await state()).toBe('running');
  clock.advance(1000);
  expect(await take(1)).toEqual(['a1']);
  expect(await state()).toBe('running');
  await done('a1');
  expect(await state()).toBe('finished');
});

test('policy: close lets a reader go that waits for room', async () => {
  const {queue, offer} = openQueue({room: 1});
  await offer('a1');
  const waiting = offer('a2');
  queue.close();
  await waiting;
  expect(queue.waiting).toBe(1);
});

test('policy: a host that is done with takes no memory', async () => {
  const {clock, queue, offer, take, done} = openQueue({delayMs: 250});
  const urls = Array.from({length: 26}, (_, at) => String.fromCharCode(97 + at));
  await offer(...urls);
  for (const url of await take(26)) await done(url);
  await take(1);
  expect(queue.hosts).toBe(26);
  clock.advance(250);
  await take(1);
  expect(queue.hosts).toBe(0);
});
