import {describe, expect, test} from 'vitest';
import {authorize, guardOver, newBudget, stubResolver} from '../../../test/support/guard-for-test.ts';
import {createManualClock} from '../../../test/support/manual-clock.ts';
import {Budget} from '../../core/budget.ts';
import {ok} from '../../core/result.ts';
import type {HostResolver} from './dns/host-resolver.ts';
import {HostPins} from './host-pins.ts';

describe('one resolution per call', () => {
  test('ruling A5 concurrent admits of one host share it', async () => {
    const {resolver, asked} = stubResolver(['93.184.216.34']);
    const guard = guardOver(resolver);
    const pins = new HostPins();
    const urls = ['http://a.example/', 'https://a.example/x', 'http://a.example./y', 'http://b.example/'];
    await Promise.all(urls.map(url => authorize(guard, url, pins)));
    expect(asked).toEqual(['a.example', 'b.example']);
  });

  test('a failure is remembered too', async () => {
    const {resolver, asked} = stubResolver([]);
    const pins = new HostPins();
    for (let round = 0; round < 2; round += 1) {
      expect(await authorize(guardOver(resolver), 'http://a.example/', pins)).toEqual({
        code: 'dns_failed',
        host: 'a.example',
        error: 'ENODATA',
      });
    }
    expect(asked).toHaveLength(1);
  });

  test('ruling B2 one budget that runs out does not spoil the name for another', async () => {
    let asked = 0;
    const resolver: HostResolver = {
      resolve: () => {
        asked += 1;
        return asked === 1 ? new Promise(() => {}) : Promise.resolve(['93.184.216.34']);
      },
    };
    const guard = guardOver(resolver);
    const pins = new HostPins();
    const robots = newBudget(20);
    const [first, second] = await Promise.all([
      authorize(guard, 'http://a.example/', pins, robots),
      authorize(guard, 'http://a.example/', pins),
    ]);
    expect(first).toEqual({code: 'timeout', timeout_ms: 20, phase: 'dns'});
    expect(second).toMatchObject({addresses: ['93.184.216.34']});
    expect(asked).toBe(2);
  });

  test('ruling B2 one call that is cancelled does not spoil it either, and who waited asks once', async () => {
    const caller = new AbortController();
    let asked = 0;
    const resolver: HostResolver = {
      resolve: () => {
        asked += 1;
        return asked === 1 ? new Promise(() => {}) : Promise.resolve(['93.184.216.34']);
      },
    };
    const guard = guardOver(resolver);
    const pins = new HostPins();
    const first = authorize(guard, 'http://a.example/', pins, newBudget(60_000, caller.signal));
    const others = [1, 2, 3].map(() => authorize(guard, 'http://a.example/', pins));
    caller.abort();
    expect(await first).toMatchObject({code: 'cancelled'});
    for (const other of await Promise.all(others))
      expect(other).toMatchObject({addresses: ['93.184.216.34']});
    expect(asked).toBe(2);
  });

  test('who has no time left when the others give up does not ask again', async () => {
    // A timer may be late; the time is over all the same.
    const clock = {...createManualClock(), after: () => () => {}};
    const [one, other] = [new Budget(1000, clock), new Budget(1000, clock)];
    const pins = new HostPins();
    let giveUp: () => void = () => {};
    const first = pins.resolve(
      'a.example',
      one,
      () => new Promise(resolve => (giveUp = () => resolve(one.failure()))),
    );
    let asked = 0;
    const second = pins.resolve('a.example', other, async () => {
      asked += 1;
      return ok([]);
    });
    giveUp();
    clock.advance(1000);
    expect(await first).toMatchObject({error: {code: 'timeout'}});
    expect(await second).toMatchObject({error: {code: 'timeout', details: {phase: 'dns'}}});
    expect(asked).toBe(0);
  });

  test('each waits no longer than its own budget', async () => {
    const guard = guardOver({resolve: () => new Promise(() => {})});
    const pins = new HostPins();
    const long = newBudget(60_000);
    const pending = authorize(guard, 'http://a.example/', pins, long);
    expect(await authorize(guard, 'http://a.example/', pins, newBudget(10))).toMatchObject({code: 'timeout'});
    const caller = new AbortController();
    const cancelled = authorize(guard, 'http://a.example/', pins, newBudget(60_000, caller.signal));
    caller.abort();
    expect(await cancelled).toEqual({code: 'cancelled', phase: 'dns'});
    long.close();
    pending.catch(() => {});
  });

  test('a call that is over is not admitted', async () => {
    const caller = new AbortController();
    caller.abort();
    const guard = guardOver(stubResolver(['93.184.216.34']).resolver);
    expect(
      await authorize(guard, 'http://8.8.8.8/', new HostPins(), newBudget(1000, caller.signal)),
    ).toMatchObject({
      code: 'cancelled',
    });
  });

  test('and asks for nothing', async () => {
    const caller = new AbortController();
    caller.abort();
    const {resolver, asked} = stubResolver(['93.184.216.34']);
    const budget = newBudget(1000, caller.signal);
    expect(await authorize(guardOver(resolver), 'http://a.example/', new HostPins(), budget)).toMatchObject({
      code: 'cancelled',
    });
    expect(asked).toEqual([]);
  });

  test('review B4: a call has at most eight look-ups at a time', async () => {
    let running = 0;
    let most = 0;
    const guard = guardOver({
      resolve: async () => {
        running += 1;
        most = Math.max(most, running);
        await new Promise(resolve => setImmediate(resolve));
        running -= 1;
        return ['93.184.216.34'];
      },
    });
    const pins = new HostPins();
    const names = Array.from({length: 40}, (_, at) => `http://${at}.example/`);
    for (const answer of await Promise.all(names.map(name => authorize(guard, name, pins)))) {
      expect(answer).toMatchObject({addresses: ['93.184.216.34']});
    }
    expect(most).toBe(8);
  });

  test('review B4: who gives up waiting for a place does not look up, and takes none', async () => {
    let asked = 0;
    const answers: (() => void)[] = [];
    const guard = guardOver({
      resolve: () => {
        asked += 1;
        return new Promise(resolve => answers.push(() => resolve(['93.184.216.34'])));
      },
    });
    const pins = new HostPins();
    const running = Array.from({length: 8}, (_, at) => authorize(guard, `http://${at}.example/`, pins));
    await expect.poll(() => asked).toBe(8);
    const caller = new AbortController();
    const waiting = authorize(guard, 'http://9.example/', pins, newBudget(60_000, caller.signal));
    const next = authorize(guard, 'http://10.example/', pins);
    caller.abort();
    expect(await waiting).toEqual({code: 'cancelled', phase: 'dns'});
    expect(asked).toBe(8);
    answers[0]?.();
    await expect.poll(() => asked).toBe(9);
    for (const answer of answers) answer();
    for (const answer of await Promise.all([...running, next])) {
      expect(answer).toMatchObject({addresses: ['93.184.216.34']});
    }
  });
});
