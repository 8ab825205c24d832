import {describe, expect, test} from 'vitest';
import {createManualClock} from '../../test/support/manual-clock.ts';
import {type CallTime, limitCall} from './limit-call.ts';

function start(signal = new AbortController().signal) {
  const clock = createManualClock();
  let end: () => void = () => {};
  const ended = new Promise<void>(resolve => {
    end = resolve;
  });
  let time: CallTime | undefined;
  const done = limitCall({tool: 'search', timeoutMs: 100, clock, signal}, async given => {
    time = given;
    await ended;
  });
  if (time === undefined) throw new Error('Expected the work to begin at once');
  return {clock, time, end, done};
}

describe('limit-call', () => {
  test('Tool API: time that ran out is `timeout`, in the words of the tool', async () => {
    const {clock, time, end, done} = start();
    clock.advance(99);
    expect([time.spent, time.signal.aborted]).toEqual([false, false]);
    clock.advance(1);
    expect([time.spent, time.expired, time.signal.aborted]).toEqual([true, true, true]);
    expect(time.failure().error).toMatchObject({
      code: 'timeout',
      message: expect.stringContaining('search did not finish within 100 ms'),
      details: {timeout_ms: 100},
    });
    end();
    await done;
  });

  test('a loop that keeps the timer from firing sees it too', async () => {
    const clock = createManualClock();
    const late = {...clock, after: () => () => {}};
    await limitCall(
      {tool: 'glob', timeoutMs: 100, clock: late, signal: new AbortController().signal},
      async time => {
        clock.advance(100);
        expect([time.spent, time.expired, time.failure().error.code]).toEqual([true, true, 'timeout']);
      },
    );
  });

  test('a caller who cancels is `cancelled`, also where time runs out later', async () => {
    const controller = new AbortController();
    const {clock, time, end, done} = start(controller.signal);
    controller.abort();
    expect([time.spent, time.expired, time.signal.aborted]).toEqual([true, false, true]);
    clock.advance(1000);
    expect(time.failure().error.code).toBe('cancelled');
    end();
    await done;
    expect(start(AbortSignal.abort()).time.spent).toBe(true);
  });

  test('no timer is left behind', async () => {
    const {clock, end, done} = start();
    expect(clock.pending()).toBe(1);
    end();
    await done;
    expect(clock.pending()).toBe(0);
  });
});
