import {setMaxListeners} from 'node:events';
import type {Clock} from '../../core/clock.ts';
import {fail} from '../../core/failure/fail.ts';
import type {Failure} from '../../core/failure/failure.ts';
import type {Err, Result} from '../../core/result.ts';
import {orAborted} from './or-aborted.ts';

/**
 * What a tool gets after its signal fired, to undo, kill and say what it has: an answer that is true
 * is better than a time-out while the work goes on.
 */
const GRACE_MS = 2000;

export interface Bounds {
  /** For messages. */
  readonly tool: string;
  readonly timeoutMs: number;
  /** Ruling W19: longer than the usual grace for a tool that takes back what it had half done. */
  readonly finishMs?: number | undefined;
  readonly caller: AbortSignal | undefined;
  readonly clock: Clock;
}

/**
 * Ends work at its time-out and when the caller cancels. FR-WF-TIMEOUT-01: this is the outer bound;
 * a tool with a budget of its own has answered before.
 */
export async function runBounded<Value>(
  work: (signal: AbortSignal) => Promise<Result<Value>>,
  {tool, timeoutMs, finishMs = GRACE_MS, caller, clock}: Bounds,
): Promise<Result<Value>> {
  const controller = new AbortController();
  const {signal} = controller;
  setMaxListeners(0, signal);
  let cause: 'timeout' | 'cancelled' | undefined;
  const end = (because: 'timeout' | 'cancelled'): void => {
    cause ??= because;
    controller.abort();
  };
  const onCancel = (): void => end('cancelled');
  const failure = (): Err<Failure> =>
    cause === 'timeout'
      ? fail('timeout', `${tool} did not finish within ${timeoutMs} ms. Give it less to do, or retry.`, {
          timeout_ms: timeoutMs,
        })
      : fail('cancelled', `The call of ${tool} was cancelled.`);

  if (caller?.aborted) {
    cause = 'cancelled';
    return failure();
  }
  caller?.addEventListener('abort', onCancel, {once: true});
  const cancelTimer = clock.after(timeoutMs, () => end('timeout'));
  try {
    const running = work(signal);
    const first = await orAborted(running, signal);
    const outcome = first === 'aborted' ? await withinGrace(running, finishMs, clock) : first.value;
    // What the tool calls cancelled is ours to name: it only saw its signal.
    if (outcome === undefined || (cause !== undefined && !outcome.ok && outcome.error.code === 'cancelled')) {
      return failure();
    }
    return outcome;
  } finally {
    cancelTimer();
    caller?.removeEventListener('abort', onCancel);
  }
}

async function withinGrace<Value>(
  running: Promise<Value>,
  graceMs: number,
  clock: Clock,
): Promise<Value | undefined> {
  const controller = new AbortController();
  const cancelTimer = clock.after(graceMs, () => controller.abort());
  try {
    // A tool whose way to stop is to throw has stopped.
    const outcome = await orAborted(running, controller.signal).catch(() => 'aborted' as const);
    return outcome === 'aborted' ? undefined : outcome.value;
  } finally {
    cancelTimer();
  }
}
