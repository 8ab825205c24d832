const MAX_AT_ONCE = 24;
/** What browsers allow themselves towards one origin over HTTP/1.1. */
const MAX_AT_ONCE_PER_ORIGIN = 6;

interface Waiting {
  readonly origin: string;
  readonly go: () => void;
}

/** Lets so many requests run at once, so that a page cannot make a flood of us. First come, first served. */
export class RequestQueue {
  readonly #running = new Map<string, number>();
  #total = 0;
  #waiting: Waiting[] = [];

  async run<Value>(origin: string, work: () => Promise<Value>): Promise<Value> {
    if (!this.#mayRun(origin)) {
      await new Promise<void>(go => this.#waiting.push({origin, go}));
    } else this.#enter(origin);
    try {
      return await work();
    } finally {
      this.#leave(origin);
    }
  }

  #mayRun(origin: string): boolean {
    return this.#total < MAX_AT_ONCE && (this.#running.get(origin) ?? 0) < MAX_AT_ONCE_PER_ORIGIN;
  }

  #enter(origin: string): void {
    this.#total += 1;
    this.#running.set(origin, (this.#running.get(origin) ?? 0) + 1);
  }

  #leave(origin: string): void {
    this.#total -= 1;
    const left = (this.#running.get(origin) ?? 1) - 1;
    if (left > 0) this.#running.set(origin, left);
    else this.#running.delete(origin);
    const place = this.#waiting.findIndex(waiting => this.#mayRun(waiting.origin));
    if (place === -1) return;
    for (const next of this.#waiting.splice(place, 1)) {
      // Its place is taken before anyone else can ask.
      this.#enter(next.origin);
      next.go();
    }
  }
}
