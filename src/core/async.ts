// Helpers for work that takes time: closing in order, sharing one call, waiting for a signal, yielding.
import type {Result} from './result.ts';

/** Open takes work; closing waits for what was taken; closed has nothing left. */
type LifecycleState = 'open' | 'closing' | 'closed';

/**
 * Something that accepts work and can be closed. Nothing outlives `close`: it aborts the work under way, waits for
 * its end, and then releases what the work used. Later work is refused.
 *
 *     open ── close() ──► closing ── work has ended, `release` has run ──► closed
 */
export class Lifecycle {
  readonly #running = new Map<Promise<unknown>, AbortController>();
  #state: LifecycleState = 'open';
  #closing: Promise<void> | undefined;

  get state(): LifecycleState {
    return this.#state;
  }

  /** Runs `work` with a signal that fires when the caller cancels and when this is closed. */
  async run<Value>(
    caller: AbortSignal | undefined,
    work: (signal: AbortSignal) => Promise<Value>,
  ): Promise<Value | 'closed'> {
    if (this.#state !== 'open') return 'closed';
    // One controller for each piece of work: `AbortSignal.any` keeps every signal of a long-lived one.
    const controller = new AbortController();
    const abort = (): void => controller.abort(caller?.reason);
    if (caller?.aborted) abort();
    else caller?.addEventListener('abort', abort, {once: true});
    const running = work(controller.signal);
    this.#running.set(running, controller);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
      caller?.removeEventListener('abort', abort);
    }
  }

  /** Every call gets the same end, so a second one waits for the first. */
  close(release: () => Promise<void>): Promise<void> {
    this.#closing ??= this.#close(release);
    return this.#closing;
  }

  async #close(release: () => Promise<void>): Promise<void> {
    this.#state = 'closing';
    for (const controller of this.#running.values()) controller.abort();
    await Promise.allSettled(this.#running.keys());
    try {
      await release();
    } finally {
      this.#state = 'closed';
    }
  }
}

interface InFlightCall<Value> {
  readonly result: Promise<Value>;
  readonly controller: AbortController;
  waiters: number;
}

/**
 * Concurrent askers for one key share one piece of work. It is aborted when the last of them has
 * left, so that one who cancels never takes the answer from the others.
 */
export class SingleFlight<Value> {
  readonly #calls = new Map<string, InFlightCall<Value>>();

  /** The shared value, or `undefined` if `signal` fired first. */
  async share(
    key: string,
    signal: AbortSignal | undefined,
    work: (signal: AbortSignal) => Promise<Value>,
  ): Promise<{readonly value: Value} | undefined> {
    if (signal?.aborted) return undefined;
    const call = this.#calls.get(key) ?? this.#start(key, work);
    call.waiters += 1;
    try {
      const first = await orAborted(call.result, signal);
      return first === 'aborted' ? undefined : first;
    } finally {
      call.waiters -= 1;
      if (call.waiters === 0) {
        // Nobody may join a call that was aborted: the next caller starts anew.
        this.#remove(key, call);
        call.controller.abort();
      }
    }
  }

  #start(key: string, work: (signal: AbortSignal) => Promise<Value>): InFlightCall<Value> {
    const controller = new AbortController();
    const call: InFlightCall<Value> = {result: work(controller.signal), controller, waiters: 0};
    this.#calls.set(key, call);
    const land = (): void => this.#remove(key, call);
    call.result.then(land, land);
    return call;
  }

  #remove(key: string, call: InFlightCall<Value>): void {
    if (this.#calls.get(key) === call) this.#calls.delete(key);
  }
}

/**
 * Does the work once for all callers and keeps its value. A failure, and a bug that threw, is forgotten: the
 * next caller tries again.
 */
export function rememberSuccess<Value>(work: () => Promise<Result<Value>>): () => Promise<Result<Value>> {
  let remembered: Promise<Result<Value>> | undefined;
  return async () => {
    remembered ??= work();
    const mine = remembered;
    let isKept = false;
    try {
      const result = await mine;
      isKept = result.ok;
      return result;
    } finally {
      // Another caller may have begun anew meanwhile.
      if (!isKept && remembered === mine) remembered = undefined;
    }
  };
}

/** Work on fewer bytes is over before anybody waits for it. */
const LONG_WORK_BYTES = 262_144;

/** Waits for `work` or for the signal. What `work` throws is thrown on; a late result is dropped. */
export async function orAborted<Value>(
  work: Promise<Value>,
  signal: AbortSignal | undefined,
): Promise<{readonly value: Value} | 'aborted'> {
  let onAbort: () => void = () => {};
  const aborted = new Promise<'aborted'>(resolve => {
    onAbort = () => resolve('aborted');
    if (signal?.aborted) onAbort();
    else signal?.addEventListener('abort', onAbort, {once: true});
  });
  try {
    return await Promise.race([aborted, work.then(value => ({value}))]);
  } finally {
    signal?.removeEventListener('abort', onAbort);
    work.catch(() => {});
  }
}

/**
 * Lets everything else that waits have its turn: to be awaited between pieces of work on so many bytes. Work that
 * is short goes on at once.
 */
export async function yieldAfter(bytes: number): Promise<void> {
  if (bytes < LONG_WORK_BYTES) return;
  await new Promise(resolve => {
    setImmediate(resolve);
  });
}

/** Does all of it, one after the other. What one step throws is thrown when the others have been done too. */
export async function inOrder(...steps: readonly (() => Promise<void> | undefined)[]): Promise<void> {
  const problems: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      problems.push(error);
    }
  }
  if (problems.length > 0) throw problems.length === 1 ? problems[0] : new AggregateError(problems);
}
