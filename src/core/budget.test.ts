import {describe, expect, test} from 'vitest';
import {createManualClock} from '../../test/support/manual-clock.ts';
import {Budget} from './budget.ts';

describe('Budget', () => {
  test('FR-WF-TIMEOUT-02 the deadline is one for all phases and names the one it struck in', () => {
    const clock = createManualClock();
    const budget = new Budget(1000, clock);
    budget.enter('connect');
    clock.advance(600);
    expect(budget.remainingMs()).toBe(400);
    budget.enter('body');
    clock.advance(400);
    expect(budget.spent).toBe(true);
    expect(budget.signal.aborted).toBe(true);
    expect(budget.failure().error).toMatchObject({
      code: 'timeout',
      retryable: true,
      details: {timeout_ms: 1000, phase: 'body'},
    });
  });

  test('ruling C3 race gives up waiting at the deadline and drops the late result', async () => {
    const clock = createManualClock();
    const budget = new Budget(1000, clock);
    const raced = budget.race(new Promise(() => {}));
    clock.advance(1000);
    expect(await raced).toMatchObject({ok: false, error: {code: 'timeout'}});
    expect(await budget.race(Promise.reject(new Error('too late')))).toMatchObject({ok: false});
  });

  test('race passes on a value and an exception that come in time', async () => {
    const budget = new Budget(1000, createManualClock());
    expect(await budget.race(Promise.resolve(7))).toEqual({ok: true, value: 7});
    await expect(budget.race(Promise.reject(new Error('bug')))).rejects.toThrow('bug');
  });

  test('a caller who cancels gets "cancelled", before and during the call', () => {
    const caller = new AbortController();
    const budget = new Budget(1000, createManualClock(), caller.signal);
    expect(budget.spent).toBe(false);
    caller.abort();
    expect(budget.failure().error.code).toBe('cancelled');
    expect(new Budget(1000, createManualClock(), caller.signal).spent).toBe(true);
  });

  test.each(['the deadline', 'the caller'])('%s is heard of once, by all who listen still', by => {
    const clock = createManualClock();
    const caller = new AbortController();
    const budget = new Budget(1000, clock, caller.signal);
    const heard: string[] = [];
    const early = budget.signal;
    early.addEventListener('abort', () => heard.push('signal'));
    budget.whenAborted(() => heard.push('callback'));
    budget.whenAborted(() => heard.push('taken back'))();
    expect(heard).toEqual([]);
    if (by === 'the caller') caller.abort();
    clock.advance(1000);
    caller.abort();
    expect(heard).toEqual(['signal', 'callback']);
    budget.whenAborted(() => heard.push('late'));
    expect(heard).toEqual(['signal', 'callback', 'late']);
    expect(budget.aborted).toBe(true);
  });

  test('a signal that is asked for after the deadline has aborted', () => {
    const clock = createManualClock();
    const budget = new Budget(1000, clock);
    clock.advance(1000);
    expect(budget.signal.aborted).toBe(true);
  });

  test('ruling B2 time spent in pausedFor does not count', async () => {
    const clock = createManualClock();
    const budget = new Budget(1000, clock);
    clock.advance(300);
    await budget.pausedFor(async () => {
      clock.advance(5000);
      expect(budget.spent).toBe(false);
      expect(budget.remainingMs()).toBe(700);
    });
    expect(budget.remainingMs()).toBe(700);
    clock.advance(700);
    expect(budget.signal.aborted).toBe(true);
  });

  test('ruling C3 the rest of a budget names the whole of it', () => {
    const clock = createManualClock();
    const rest = new Budget(200, clock, undefined, 1000);
    clock.advance(200);
    expect(rest.failure().error.details).toEqual({timeout_ms: 1000, phase: 'dns'});
  });

  test('close leaves no timer and no listener', async () => {
    const clock = createManualClock();
    const budget = new Budget(1000, clock);
    await budget.pausedFor(async () => expect(clock.pending()).toBe(0));
    expect(clock.pending()).toBe(1);
    budget.close();
    expect(clock.pending()).toBe(0);
  });
});

test('review B13: pauses that overlap are one pause', async () => {
  const clock = createManualClock();
  const budget = new Budget(1000, clock);
  const ends: (() => void)[] = [];
  const pause = () => budget.pausedFor(() => new Promise<void>(resolve => ends.push(resolve)));
  clock.advance(400);
  const first = pause();
  clock.advance(5000);
  const second = pause();
  clock.advance(5000);
  expect(budget.remainingMs()).toBe(600);
  ends[0]?.();
  await first;
  clock.advance(5000);
  expect(budget.remainingMs()).toBe(600);
  expect(budget.aborted).toBe(false);
  ends[1]?.();
  await second;
  clock.advance(599);
  expect(budget.aborted).toBe(false);
  expect(budget.remainingMs()).toBe(1);
  clock.advance(1);
  expect(budget.aborted).toBe(true);
});

test('review B13: a budget that is closed in a pause leaves no timer', async () => {
  const clock = createManualClock();
  const budget = new Budget(1000, clock);
  await budget.pausedFor(async () => budget.close());
  expect(clock.pending()).toBe(0);
});
