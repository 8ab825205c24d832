// Ends the work of a call at its deadline and when the caller cancels.
import {orAborted} from '../core/async.ts';
import type {Clock} from '../core/clock.ts';
import {Deadline} from '../core/deadline.ts';
import type {Result} from '../core/result.ts';

/**
 * What a tool gets after its signal fired, to undo, kill and say what it has: an answer that is true
 * is better than a time-out while the work goes on.
 */
const GRACE_MS = 2000;

interface Bounds {
  /** For messages. */
  readonly tool: string;
  readonly timeoutMs: number;
  /** Ruling W19: longer than the usual grace for a tool that takes back what it had half done. */
  readonly finishMs?: number | undefined;
  readonly caller: AbortSignal | undefined;
  readonly clock: Clock;
}

/** Runs one part of a call within a deadline. A tool that watches it answers within the grace. (FR-WF-TIMEOUT-01) */
export async function runBounded<Value>(
  work: (deadline: Deadline) => Promise<Result<Value>>,
  {tool, timeoutMs, finishMs = GRACE_MS, caller, clock}: Bounds,
): Promise<Result<Value>> {
  const deadline = new Deadline(timeoutMs, clock, caller, {tool});
  try {
    if (deadline.aborted) return deadline.failure();
    const running = work(deadline);
    const first = await orAborted(running, deadline.signal);
    const outcome = first === 'aborted' ? await withinGrace(running, finishMs, clock) : first.value;
    // What the tool calls cancelled is ours to name: it only saw its signal.
    const isCancelled = outcome !== undefined && !outcome.ok && outcome.error.code === 'cancelled';
    return outcome === undefined || (deadline.aborted && isCancelled) ? deadline.failure() : outcome;
  } finally {
    deadline.close();
  }
}

/** Undefined where it did not end in time. A tool whose way to stop is to throw has stopped. */
async function withinGrace<Value>(
  running: Promise<Value>,
  graceMs: number,
  clock: Clock,
): Promise<Value | undefined> {
  const grace = new Deadline(graceMs, clock);
  const outcome = await grace.race(running).catch(grace.failure.bind(grace));
  grace.close();
  return outcome.ok ? outcome.value : undefined;
}
