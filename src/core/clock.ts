/** The only gateway to time; everything that needs "now" or a timer gets one of these. */
export interface Clock {
  /** Milliseconds since the epoch, for time stamps. */
  readonly now: () => number;
  /** Milliseconds on a clock that never jumps, for budgets and durations. */
  readonly monotonic: () => number;
  /** Calls back once after `ms`; the returned function cancels. */
  readonly after: (ms: number, callback: () => void, options?: TimerOptions) => () => void;
}

export interface TimerOptions {
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
