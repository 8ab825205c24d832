// The deadline of a call or a fetch: how much time is left, where it is, and what it says when time is up.
import {setMaxListeners} from 'node:events';
import type {Clock} from './clock.ts';
import {type Err, type Failure, fail, ok, type Result} from './result.ts';

/** Ruling C3: where a call was when its time ran out. */
export type Phase = 'dns' | 'connect' | 'tls' | 'headers' | 'body' | 'robots' | 'extract' | 'browser';

/**
 * FR-WF-TIMEOUT-02: one deadline for a whole call, of a fetch with the phase it is in.
 * Everything that waits does so through `race`, or stops on `signal`.
 */
export class Deadline {
  readonly timeoutMs: number;
  phase: Phase = 'dns';
  readonly #clock: Clock;
  #deadline: number;
  #pausedWith: number | undefined;
  #pauses = 0;
  #closed = false;
  #aborted = false;
  #cancelled = false;
  readonly #tool: string | undefined;
  readonly #onAbort = new Set<() => void>();
  #controller: AbortController | undefined;
  readonly #caller: AbortSignal | undefined;
  #cancelTimer: () => void;
  readonly #abort = (): void => {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#cancelled = this.#caller?.aborted === true;
    this.#controller?.abort();
    for (const callback of [...this.#onAbort]) callback();
    this.#onAbort.clear();
  };

  /** `total` is what a failure names, where this is the rest of a budget. A `tool` is named in place of the phase. */
  constructor(
    timeoutMs: number,
    clock: Clock,
    caller?: AbortSignal,
    {total = timeoutMs, tool}: {readonly total?: number; readonly tool?: string} = {},
  ) {
    this.timeoutMs = total;
    this.#tool = tool;
    this.#clock = clock;
    this.#caller = caller;
    this.#deadline = clock.monotonic() + timeoutMs;
    this.#cancelTimer = clock.after(timeoutMs, this.#abort);
    if (caller?.aborted) this.#abort();
    else caller?.addEventListener('abort', this.#abort, {once: true});
  }

  /** Aborts at the deadline, and when the caller cancels. Made when it is asked for: `whenAborted` costs less. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      setMaxListeners(0, this.#controller.signal);
      if (this.#aborted) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  /** Whether `signal` has, or would have, aborted. */
  get aborted(): boolean {
    return this.#aborted;
  }

  /** Calls back once when `signal` would abort, at once if it has; the returned function takes that back. */
  whenAborted(callback: () => void): () => void {
    if (this.#aborted) callback();
    else this.#onAbort.add(callback);
    return () => this.#onAbort.delete(callback);
  }

  enter(phase: Phase): void {
    this.phase = phase;
  }

  remainingMs(): number {
    return this.#pausedWith ?? Math.max(0, this.#deadline - this.#clock.monotonic());
  }

  /**
   * Ruling B2: the time that another budget pays for does not count against this one. Pauses may
   * overlap: the time goes on when the last one has ended.
   */
  async pausedFor<Value>(work: () => Promise<Value>): Promise<Value> {
    this.#pausedWith ??= this.remainingMs();
    this.#pauses += 1;
    this.#cancelTimer();
    try {
      return await work();
    } finally {
      this.#pauses -= 1;
      if (this.#pauses === 0) this.#goOn(this.#pausedWith);
    }
  }

  /** True once nothing more may be done for this call. */
  get spent(): boolean {
    return this.#aborted || this.remainingMs() === 0;
  }

  /** Whether the caller cancelled before time ran out. */
  get cancelled(): boolean {
    return this.#cancelled;
  }

  /** The failure to return once `spent`. */
  failure(): Err<Failure> {
    const {timeoutMs, phase} = this;
    const tool = this.#tool;
    if (tool !== undefined) {
      if (this.#cancelled) return fail('cancelled', `The call of ${tool} was cancelled.`);
      const late = `${tool} did not finish within ${timeoutMs} ms. Give it less to do, or retry.`;
      return fail('timeout', late, {timeout_ms: timeoutMs});
    }
    if (this.#cancelled) return fail('cancelled', `The call was cancelled in phase "${phase}".`, {phase});
    return fail(
      'timeout',
      `No result within ${timeoutMs} ms; time ran out in phase "${phase}". Retry, or raise timeout_seconds.`,
      {timeout_ms: timeoutMs, phase},
    );
  }

  /** Waits for `work` or the deadline. What `work` throws is thrown on; a late result is dropped. */
  async race<Value>(work: Promise<Value>): Promise<Result<Value>> {
    if (this.spent) {
      work.catch(() => {});
      return this.failure();
    }
    let forget: () => void = () => {};
    const aborted = new Promise<'aborted'>(resolve => {
      forget = this.whenAborted(() => resolve('aborted'));
    });
    try {
      const winner = await Promise.race([work.then(value => ({value})), aborted]);
      return winner === 'aborted' ? this.failure() : ok(winner.value);
    } finally {
      forget();
      work.catch(() => {});
    }
  }

  #goOn(remainingMs: number): void {
    this.#pausedWith = undefined;
    this.#deadline = this.#clock.monotonic() + remainingMs;
    if (!this.#closed) this.#cancelTimer = this.#clock.after(remainingMs, this.#abort);
  }

  /** Releases the timer. Call it when the fetch has ended, however it ended. */
  close(): void {
    this.#closed = true;
    this.#cancelTimer();
    this.#caller?.removeEventListener('abort', this.#abort);
  }
}
