/** The only gateway to time; everything that needs "now" or a timer gets one of these. */
export interface Clock {
  /** Milliseconds since the epoch, for time stamps. */
  readonly now: () => number;
  /** Milliseconds on a clock that never jumps, for budgets and durations. */
  readonly monotonic: () => number;
  /** Calls back once after `ms`; the returned function cancels. */
  readonly after: (ms: number, callback: () => void) => () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (ms, callback) => {
    // Not unref'd: a pending deadline is what ends a call whose sockets have gone silent.
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

/** F7: RFC 3339 UTC with milliseconds. */
export function timestamp(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
