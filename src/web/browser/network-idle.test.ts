import {describe, expect, test} from 'vitest';
import {createManualClock} from '../../../test/support/manual-clock.ts';
import {NetworkIdle} from './network-idle.ts';

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
