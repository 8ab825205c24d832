interface Waiting {
  readonly most: number;
  readonly go: () => void;
}

/** A place that is held only until another one waits for it. */
export interface SparePlace {
  /** From here on it is held like any other. */
  readonly keep: () => void;
  readonly giveBack: () => void;
}

/** Lets so many do something at a time; the others wait for a place. First come, first served. */
export class Places {
  #taken = 0;
  readonly #waiting = new Set<Waiting>();
  /** How the holders of spare places are asked for them. */
  readonly #spare = new Set<() => void>();

  /** A place among at most `most`, and how it is given back; `undefined` where none is free. */
  tryTake(most: number): (() => void) | undefined {
    if (this.#taken >= most || this.#waiting.size > 0) return undefined;
    this.#taken += 1;
    return this.#giveBackOnce();
  }

  /** The same, for something that gives way: `giveWay` is called, once, when another one has to wait. */
  tryTakeSpare(most: number, giveWay: () => void): SparePlace | undefined {
    const giveBack = this.tryTake(most);
    if (giveBack === undefined) return undefined;
    const ask = (): void => giveWay();
    this.#spare.add(ask);
    return {
      keep: () => void this.#spare.delete(ask),
      giveBack: () => {
        this.#spare.delete(ask);
        giveBack();
      },
    };
  }

  /** A place, waiting for it; `undefined` if `signal` fires before there is one. */
  async take(most: number, signal: AbortSignal): Promise<(() => void) | undefined> {
    if (signal.aborted) return undefined;
    const free = this.tryTake(most);
    if (free) return free;
    return (await this.#turn(most, signal)) ? this.#giveBackOnce() : undefined;
  }

  #giveBackOnce(): () => void {
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#taken -= 1;
      this.#callNext();
    };
  }

  /** Whoever is called has its place already, so that nobody comes in between. */
  #turn(most: number, signal: AbortSignal): Promise<boolean> {
    return new Promise(resolve => {
      const leave = (): void => {
        this.#waiting.delete(waiting);
        resolve(false);
        // It may have held up others, who ask for fewer.
        this.#callNext();
      };
      const waiting: Waiting = {
        most,
        go: () => {
          signal.removeEventListener('abort', leave);
          this.#taken += 1;
          resolve(true);
        },
      };
      this.#waiting.add(waiting);
      signal.addEventListener('abort', leave, {once: true});
      // All of them: how many would do depends on who waits in front.
      const holders = [...this.#spare];
      this.#spare.clear();
      for (const giveWay of holders) giveWay();
    });
  }

  #callNext(): void {
    for (const next of this.#waiting) {
      if (this.#taken >= next.most) return;
      this.#waiting.delete(next);
      next.go();
    }
  }
}
