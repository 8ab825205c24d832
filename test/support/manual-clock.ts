import type {Clock} from '../../src/core/clock.ts';

/** A clock that stands still until the test moves it. */
export interface ManualClock extends Clock {
  /** Moves the time, and calls back the timers that are due, in the order in which they are. */
  readonly advance: (ms: number) => void;
  /** Timers that are set. */
  readonly pending: () => number;
}

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

export function createManualClock(start = Date.parse('2026-01-01T00:00:00.000Z')): ManualClock {
  let now = start;
  const timers = new Set<Timer>();
  return {
    now: () => now,
    monotonic: () => now,
    after: (ms, callback) => {
      const timer: Timer = {at: now + ms, callback};
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    advance: ms => {
      now += ms;
      const due = [...timers].filter(({at}) => at <= now).sort((a, b) => a.at - b.at);
      for (const timer of due) {
        // An earlier one may have cancelled it.
        if (timers.delete(timer)) timer.callback();
      }
    },
    pending: () => timers.size,
  };
}
