import {describe, expect, test} from 'vitest';
import {SingleFlight} from './single-flight.ts';

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
