import {expect, test} from 'vitest';
import {Lifecycle} from './lifecycle.ts';

/** Work that ends when it is told to, `late` turns of the event loop afterwards. */
function untilAborted(late = 0) {
  return async (signal: AbortSignal): Promise<string> => {
    if (!signal.aborted) await new Promise(resolve => signal.addEventListener('abort', resolve));
    for (let turn = 0; turn < late; turn++) await new Promise(resolve => setImmediate(resolve));
    return 'ended';
  };
}

test('review B2: close() aborts what runs, waits for it, and only then releases', async () => {
  const lifecycle = new Lifecycle();
  const order: string[] = [];
  const running = [0, 5, 20].map(late =>
    lifecycle.run(undefined, untilAborted(late)).then(value => order.push(value)),
  );
  await lifecycle.close(async () => {
    order.push(`released while ${lifecycle.state}`);
  });
  await Promise.all(running);
  expect(order).toEqual(['ended', 'ended', 'ended', 'released while closing']);
  expect(lifecycle.state).toBe('closed');
});

test('review B2: work that comes while it closes, and later, is refused and not begun', async () => {
  const lifecycle = new Lifecycle();
  const running = lifecycle.run(undefined, untilAborted(5));
  const closing = lifecycle.close(async () => {});
  const begun: string[] = [];
  const late = async () => begun.push('late');
  expect(await lifecycle.run(undefined, late)).toBe('closed');
  await closing;
  expect(await lifecycle.run(undefined, late)).toBe('closed');
  expect(begun).toEqual([]);
  expect(await running).toBe('ended');
});

test('review B2: every close() has the same end, and releases once', async () => {
  const lifecycle = new Lifecycle();
  let released = 0;
  const release = async (): Promise<void> => {
    released += 1;
  };
  const first = lifecycle.close(release);
  expect(lifecycle.close(release)).toBe(first);
  await first;
  expect(released).toBe(1);
});

test('a caller cancels its own work and no other, also one that cancelled before', async () => {
  const lifecycle = new Lifecycle();
  const caller = new AbortController();
  const mine = lifecycle.run(caller.signal, untilAborted());
  let isOtherAborted = false;
  const other = lifecycle.run(undefined, async signal => {
    await untilAborted()(signal);
    isOtherAborted = true;
  });
  caller.abort();
  expect(await mine).toBe('ended');
  expect(isOtherAborted).toBe(false);
  expect(await lifecycle.run(caller.signal, untilAborted())).toBe('ended');
  await lifecycle.close(async () => {});
  await other;
});

test('work that throws is over, and its bug is its caller’s', async () => {
  const lifecycle = new Lifecycle();
  const boom = lifecycle.run(undefined, async () => {
    throw new Error('boom');
  });
  await expect(boom).rejects.toThrow('boom');
  await expect(
    lifecycle.run(undefined, () => {
      throw new Error('at once');
    }),
  ).rejects.toThrow('at once');
  await lifecycle.close(async () => {});
});
