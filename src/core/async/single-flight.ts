interface Flight<Value> {
  readonly result: Promise<Value>;
  readonly controller: AbortController;
  passengers: number;
}

/**
 * Concurrent askers for one key share one piece of work. It is aborted when the last of them has
 * left, so that one who cancels never takes the answer from the others.
 */
export class SingleFlight<Value> {
  readonly #flights = new Map<string, Flight<Value>>();

  /** The shared value, or `undefined` if `signal` fired first. */
  async share(
    key: string,
    signal: AbortSignal | undefined,
    work: (signal: AbortSignal) => Promise<Value>,
  ): Promise<{readonly value: Value} | undefined> {
    if (signal?.aborted) return undefined;
    const flight = this.#flights.get(key) ?? this.#start(key, work);
    flight.passengers += 1;
    let leave: () => void = () => {};
    const left = new Promise<undefined>(resolve => {
      leave = () => resolve(undefined);
    });
    signal?.addEventListener('abort', leave, {once: true});
    try {
      return await Promise.race([flight.result.then(value => ({value})), left]);
    } finally {
      signal?.removeEventListener('abort', leave);
      flight.passengers -= 1;
      if (flight.passengers === 0) {
        // Nobody may board an aborted flight: the next asker starts anew.
        this.#remove(key, flight);
        flight.controller.abort();
      }
    }
  }

  #start(key: string, work: (signal: AbortSignal) => Promise<Value>): Flight<Value> {
    const controller = new AbortController();
    const flight: Flight<Value> = {result: work(controller.signal), controller, passengers: 0};
    this.#flights.set(key, flight);
    const land = (): void => this.#remove(key, flight);
    flight.result.then(land, land);
    return flight;
  }

  #remove(key: string, flight: Flight<Value>): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
  }
}
