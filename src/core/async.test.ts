import {describe, expect, test} from 'vitest';
import {Lifecycle, rememberSuccess, SingleFlight} from './async.ts';
import {fail, ok, type Result} from './result.ts';

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

function deferred<Value>() {
  let resolve: (value: Value) => void = () => {};
  const promise = new Promise<Value>(resolvePromise => {
    resolve = resolvePromise;
  });
  return {promise, resolve};
}

describe('SingleFlight', () => {
  test('ruling F8 concurrent askers share one piece of work, later ones start anew', async () => {
    const calls = new SingleFlight<number>();
    let started = 0;
    const gate = deferred<number>();
    const work = (): Promise<number> => {
      started += 1;
      return gate.promise;
    };
    const both = [calls.share('k', undefined, work), calls.share('k', undefined, work)];
    const other = calls.share('other', undefined, async () => 2);
    gate.resolve(1);
    expect(await Promise.all([...both, other])).toEqual([{value: 1}, {value: 1}, {value: 2}]);
    expect(started).toBe(1);
    await calls.share('k', undefined, work);
    expect(started).toBe(2);
  });

  test('one who cancels leaves the others their answer', async () => {
    const calls = new SingleFlight<string>();
    const gate = deferred<string>();
    let aborted = false;
    const work = (signal: AbortSignal): Promise<string> => {
      signal.addEventListener('abort', () => {
        aborted = true;
      });
      return gate.promise;
    };
    const leaver = new AbortController();
    const left = calls.share('k', leaver.signal, work);
    const stayed = calls.share('k', undefined, work);
    leaver.abort();
    expect(await left).toBeUndefined();
    expect(aborted).toBe(false);
    gate.resolve('page');
    expect(await stayed).toEqual({value: 'page'});
  });

  test('the work is aborted when the last waiter leaves, and none joins it afterwards', async () => {
    const calls = new SingleFlight<string>();
    let signalOfFirst: AbortSignal | undefined;
    const leaver = new AbortController();
    const left = calls.share('k', leaver.signal, signal => {
      signalOfFirst = signal;
      return new Promise(() => {});
    });
    leaver.abort();
    expect(await left).toBeUndefined();
    expect(signalOfFirst?.aborted).toBe(true);
    expect(await calls.share('k', undefined, async () => 'fresh')).toEqual({value: 'fresh'});
  });

  test('a failed flight fails for all and is forgotten', async () => {
    const calls = new SingleFlight<string>();
    const crash = (): Promise<string> => Promise.reject(new Error('bug'));
    const outcomes = await Promise.allSettled([
      calls.share('k', undefined, crash),
      calls.share('k', undefined, crash),
    ]);
    expect(outcomes.map(outcome => outcome.status)).toEqual(['rejected', 'rejected']);
    expect(await calls.share('k', undefined, async () => 'ok')).toEqual({value: 'ok'});
  });
});

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
