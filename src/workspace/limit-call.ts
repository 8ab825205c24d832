import type {Clock} from '../core/clock.ts';
import {fail} from '../core/failure/fail.ts';
import type {Failure} from '../core/failure/failure.ts';
import type {Err} from '../core/result.ts';
import type {Deadline} from './deadline.ts';

export interface CallLimits {
  /** For messages. */
  readonly tool: string;
  /** The limit that the Tool API names. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** Fires when the caller cancels. */
  readonly signal: AbortSignal;
}

/** The time that a call has. */
export interface CallTime extends Deadline {
  /** Fires at the limit, and when the caller cancels. */
  readonly signal: AbortSignal;
  /** The limit was reached; false where the caller cancelled before. */
  readonly expired: boolean;
}

/** Runs `work` with a deadline that fails in the words of the tool: `timeout`, or `cancelled`. */
export async function limitCall<Value>(
  {tool, timeoutMs, clock, signal}: CallLimits,
  work: (time: CallTime) => Promise<Value>,
): Promise<Value> {
  const controller = new AbortController();
  const end = clock.monotonic() + timeoutMs;
  let timedOut = false;
  const abort = (): void => controller.abort();
  const cancelTimer = clock.after(timeoutMs, () => {
    timedOut = !controller.signal.aborted;
    abort();
  });
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, {once: true});
  const time: CallTime = {
    signal: controller.signal,
    get expired() {
      // The timer cannot fire while a loop keeps the thread busy, and it may fire a little early.
      return timedOut || (!controller.signal.aborted && clock.monotonic() >= end);
    },
    get spent() {
      return controller.signal.aborted || clock.monotonic() >= end;
    },
    failure: () => (time.expired ? timedOutFailure(tool, timeoutMs) : cancelledFailure(tool)),
  };
  try {
    return await work(time);
  } finally {
    cancelTimer();
    signal.removeEventListener('abort', abort);
  }
}

function timedOutFailure(tool: string, timeoutMs: number): Err<Failure> {
  return fail('timeout', `${tool} did not finish within ${timeoutMs} ms. Give it less to do, or retry.`, {
    timeout_ms: timeoutMs,
  });
}

function cancelledFailure(tool: string): Err<Failure> {
  return fail('cancelled', `The call of ${tool} was cancelled.`);
}
