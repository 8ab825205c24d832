// The only source of time, timers and randomness. Tests drive their own.
import {randomBytes} from 'node:crypto';

/** The time and timers of a toolbox. Tests pass one of their own. */
export interface Clock {
  /** Milliseconds since the epoch, for time stamps. */
  readonly now: () => number;
  /** Milliseconds on a clock that never jumps, for budgets and durations. */
  readonly monotonic: () => number;
  /** Calls back once after `ms`; the returned function cancels. */
  readonly after: (ms: number, callback: () => void, options?: TimerOptions) => () => void;
}

interface TimerOptions {
  /** Whether our process stays until then. Default: true, as a pending deadline is what ends a call whose sockets have gone silent. */
  readonly holds?: boolean;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (ms, callback, {holds = true} = {}) => {
    const timer = setTimeout(callback, ms);
    if (!holds) timer.unref();
    return () => clearTimeout(timer);
  },
};

/** F7: RFC 3339 UTC with milliseconds. */
export function timestamp(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/**
 * Calls back every `ms` until it is stopped; the returned function stops it. It does not keep the process
 * alive: what is to beat as long as the process lives ends with it.
 */
export function every(ms: number, callback: () => void): () => void {
  const timer = setInterval(callback, ms);
  timer.unref();
  return () => clearInterval(timer);
}

/** The only gateway to randomness: `2 × bytes` lower-case hexadecimal digits. */
export function randomHex(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}

/** From 0 up to 1, to spread what would come at the same time. */
export function randomShare(): number {
  return randomBytes(4).readUInt32BE() / 2 ** 32;
}
