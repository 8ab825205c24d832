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
    let leave: () => void = () => {};
    const left = new Promise<undefined>(resolve => {
      leave = () => resolve(undefined);
    });
    signal?.addEventListener('abort', leave, {once: true});
    try {
      return await Promise.race([call.result.then(value => ({value})), left]);
    } finally {
      signal?.removeEventListener('abort', leave);
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
