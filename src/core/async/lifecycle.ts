/** Open takes work; closing waits for what was taken; closed has nothing left. */
export type LifecycleState = 'open' | 'closing' | 'closed';

/**
 * Whoever takes work and can be closed. Nothing outlives `close`: it aborts the work under way, waits for
 * the end of it, and then releases what the work used. Work that comes later is refused.
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
