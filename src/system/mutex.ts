/** One holder at a time for each key, in this process; others wait in the order in which they came. */
export class Mutex {
  readonly #tails = new Map<string, Promise<void>>();

  /** The value lets the next one in; undefined if `signal` fired first. */
  async take(key: string, signal?: AbortSignal): Promise<(() => void) | undefined> {
    const before = this.#tails.get(key) ?? Promise.resolve();
    let letGo = (): void => {};
    const done = new Promise<void>(resolve => {
      letGo = resolve;
    });
    const tail = before.then(() => done);
    this.#tails.set(key, tail);
    const release = (): void => {
      letGo();
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    };
    if (await settledFirst(before, signal)) return release;
    // The place in the queue is given up, not jumped over: who comes next still waits for who is ahead.
    letGo();
    void tail.then(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    });
    return undefined;
  }
}

/** False if the signal fired before `work` was done. */
async function settledFirst(work: Promise<void>, signal: AbortSignal | undefined): Promise<boolean> {
  if (signal === undefined) return work.then(() => true);
  if (signal.aborted) return false;
  let onAbort = (): void => {};
  const aborted = new Promise<false>(resolve => {
    onAbort = () => resolve(false);
    signal.addEventListener('abort', onAbort, {once: true});
  });
  try {
    return await Promise.race([work.then(() => true), aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
