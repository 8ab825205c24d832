import {PassThrough} from 'node:stream';
import {describe, expect, test} from 'vitest';
import {createManualClock} from '../../../test/support/manual-clock.ts';
import {CdpConnection, type PausedRequest} from './cdp.ts';
import {InFlight, NetworkIdle} from './network-idle.ts';
import type {Answer} from './requests.ts';

function watched() {
  const clock = createManualClock();
  const idle = new NetworkIdle(clock);
  const state = {reached: false};
  void idle.reached().then(() => {
    state.reached = true;
  });
  const pass = async (ms: number): Promise<boolean> => {
    clock.advance(ms);
    await Promise.resolve();
    return state.reached;
  };
  return {clock, idle, pass};
}

describe('FR-WF-11e network idle', () => {
  test('FR-WF-11e nothing in flight is not enough before DOMContentLoaded', async () => {
    const {idle, pass} = watched();
    expect(await pass(5000)).toBe(false);
    idle.documentReady();
    expect(await pass(499)).toBe(false);
    expect(await pass(1)).toBe(true);
  });

  test('FR-WF-11e a request within the half second starts it anew, when it has ended', async () => {
    const {idle, pass} = watched();
    idle.documentReady();
    expect(await pass(400)).toBe(false);
    idle.begin();
    idle.begin();
    expect(await pass(9000)).toBe(false);
    idle.end();
    expect(await pass(9000)).toBe(false);
    idle.end();
    expect(await pass(499)).toBe(false);
    expect(await pass(1)).toBe(true);
  });

  test('FR-WF-11e a process that was held up hears of requests before it calls the page quiet', () => {
    let now = 0;
    let fire = (): void => {};
    const clock = {
      now: () => now,
      monotonic: () => now,
      after: (_: number, callback: () => void) => {
        fire = callback;
        return () => {
          fire = () => {};
        };
      },
    };
    const idle = new NetworkIdle(clock);
    let quiet = false;
    idle.documentReady();
    void idle.reached().then(() => {
      quiet = true;
    });
    now = 900;
    fire();
    idle.begin();
    fire();
    return Promise.resolve().then(() => expect(quiet).toBe(false));
  });

  test('FR-WF-11c another document is waited for like the first', async () => {
    const {idle, pass} = watched();
    idle.documentReady();
    await pass(300);
    idle.documentReplaced();
    expect(await pass(9000)).toBe(false);
    idle.documentReady();
    expect(await pass(500)).toBe(true);
  });

  test('ruling G6 close leaves no timer', () => {
    const {clock, idle} = watched();
    idle.documentReady();
    expect(clock.pending()).toBe(1);
    idle.begin();
    idle.close();
    expect(clock.pending()).toBe(0);
    idle.end();
    expect(clock.pending()).toBe(0);
  });
});

describe('in flight', () => {
  const REDIRECT: Answer = {status: 302, headers: [{name: 'Location', value: '/end'}]};
  const FIRST = paused({requestId: 'job-1.0', networkId: '7.1'});
  const FOLLOW_UP = paused({requestId: 'job-1.1', networkId: '7.1', redirectedRequestId: 'job-1.0'});

  function paused(ids: Partial<PausedRequest>, accept = '*/*'): PausedRequest {
    const said = {initialPriority: 'Medium', referrerPolicy: 'no-referrer'} as const;
    const request = {url: 'http://a.test/', method: 'GET', headers: {Accept: accept}, ...said};
    return {requestId: '', frameId: '', resourceType: 'XHR', request, ...ids};
  }

  /** A page whose document is ready, and what Chromium says of its requests. */
  function watched() {
    const clock = createManualClock();
    const idle = new NetworkIdle(clock);
    const inFlight = new InFlight(idle, clock);
    const output = new PassThrough();
    inFlight.listen(new CdpConnection(new PassThrough(), output));
    idle.documentReady();
    let reached = false;
    void idle.reached().then(() => {
      reached = true;
    });
    const isIdleAfter = async (ms: number): Promise<boolean> => {
      clock.advance(ms);
      await Promise.resolve();
      return reached;
    };
    const say = async (method: string, params: object): Promise<void> => {
      output.write(`${JSON.stringify({method, params})}\0`);
      await new Promise<void>(resolve => setImmediate(resolve));
    };
    const load = (one: PausedRequest, answer: Answer, taken = true): void => {
      inFlight.begin(one);
      inFlight.answering(one, answer);
      inFlight.end(one, taken);
    };
    return {clock, idle, inFlight, isIdleAfter, say, load};
  }

  describe('FR-WF-11e requests in flight', () => {
    test('FR-WF-BREDIR-01 a redirect whose target is asked for late is in flight all the time', async () => {
      const {isIdleAfter, load} = watched();
      load(FIRST, REDIRECT);
      expect(await isIdleAfter(4000)).toBe(false);
      load(FOLLOW_UP, {status: 200, headers: []});
      expect(await isIdleAfter(499)).toBe(false);
      expect(await isIdleAfter(1)).toBe(true);
    });

    test('FR-WF-BREDIR-01 the target that is asked for before the redirect was said to be taken leaves nothing behind', async () => {
      const {isIdleAfter, inFlight, load} = watched();
      inFlight.begin(FIRST);
      inFlight.answering(FIRST, REDIRECT);
      load(FOLLOW_UP, {status: 200, headers: []});
      expect(await isIdleAfter(900)).toBe(false);
      inFlight.end(FIRST, true);
      expect(await isIdleAfter(500)).toBe(true);
    });

    test.each(['Network.loadingFailed', 'Network.loadingFinished'])(
      'FR-WF-11e %s ends a redirect that nobody follows, and those of others not',
      async method => {
        const {isIdleAfter, say, load} = watched();
        load(FIRST, REDIRECT);
        await say(method, {requestId: '7.2'});
        expect(await isIdleAfter(1000)).toBe(false);
        await say(method, {requestId: '7.1'});
        expect(await isIdleAfter(500)).toBe(true);
      },
    );

    test('FR-WF-11e a redirect of which nothing more is heard is given up after five seconds', async () => {
      const {isIdleAfter, load} = watched();
      load(paused({requestId: 'job-2.0'}), REDIRECT);
      expect(await isIdleAfter(4999)).toBe(false);
      await isIdleAfter(1);
      expect(await isIdleAfter(500)).toBe(true);
    });

    test.each<readonly [string, PausedRequest, Answer, boolean]>([
      ['that Chromium did not take', FIRST, REDIRECT, false],
      ['without a target', FIRST, {status: 302, headers: [{name: 'x-a', value: 'b'}]}, true],
      ['of a status that is followed nowhere', FIRST, {...REDIRECT, status: 304}, true],
      ['that is a refusal', FIRST, {refuse: 'Aborted'}, true],
      ['to a stream of events', paused({requestId: 'job-3.0'}, 'text/event-stream'), REDIRECT, true],
    ])('FR-WF-11e an answer %s has no gap', async (_, one, answer, taken) => {
      const {isIdleAfter, load} = watched();
      load(one, answer, taken);
      expect(await isIdleAfter(499)).toBe(false);
      expect(await isIdleAfter(1)).toBe(true);
    });

    test('FR-WF-11e a stream of events is not waited for', async () => {
      const {isIdleAfter, inFlight} = watched();
      inFlight.begin(paused({requestId: 'job-3.0'}, 'text/event-stream'));
      expect(await isIdleAfter(500)).toBe(true);
    });

    test('ruling G6 close leaves no timer of a gap', () => {
      const {clock, idle, inFlight, load} = watched();
      load(FIRST, REDIRECT);
      expect(clock.pending()).toBe(1);
      inFlight.close();
      idle.close();
      expect(clock.pending()).toBe(0);
    });
  });
});
