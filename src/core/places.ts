// Limits how many do something at a time, and gives the memory of large arrays back early.
import {MessageChannel} from 'node:worker_threads';

interface Waiting {
  readonly most: number;
  readonly go: () => void;
}

/** Lets so many do something at a time; the others wait for a place. First come, first served. */
export class Places {
  #taken = 0;
  readonly #waiting = new Set<Waiting>();
  /** How those who hold a place only so long are asked for it. */
  readonly #preemptible = new Set<() => void>();

  /** A place among at most `most`, and how it is given back; `undefined` where none is free. */
  tryTake(most: number): (() => void) | undefined {
    if (this.#taken >= most || this.#waiting.size > 0) return undefined;
    this.#taken += 1;
    return this.#giveBackOnce();
  }

  /** The same, for something that gives way: `preempt` is called, once at most, when another one has to wait. */
  tryTakePreemptible(most: number, preempt: () => void): (() => void) | undefined {
    const giveBack = this.tryTake(most);
    if (giveBack === undefined) return undefined;
    // A function of its own, as two holders may have the same one.
    const ask = (): void => preempt();
    this.#preemptible.add(ask);
    return () => {
      this.#preemptible.delete(ask);
      giveBack();
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

  /** A waiter that is called has its place already, so that nobody comes in between. */
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
      const holders = [...this.#preemptible];
      this.#preemptible.clear();
      for (const preempt of holders) preempt();
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

type Memory = Uint8Array | Uint16Array | Int32Array;

/**
 * Gives the memory of arrays back that nobody reads any more, and that is theirs alone. They are empty then. As that of
 * buffers that have just been made and are nobody's, it goes with the next small collection of garbage; arrays that have
 * been there for a while would keep it until a large one. For a thread that is at work.
 */
export function freeMemory(...arrays: readonly Memory[]): void {
  for (const {buffer} of arrays) structuredClone(buffer, {transfer: [buffer as ArrayBuffer]});
}

/**
 * The same for a thread that waits for others, and so collects no garbage meanwhile: what is handed to a port that is
 * closed is gone as soon as there is nothing else to do.
 */
export function freeMemoryWhenIdle(arrays: readonly Memory[]): void {
  const {port1} = new MessageChannel();
  const buffers = new Set(arrays.map(({buffer}) => buffer as ArrayBuffer));
  port1.postMessage(undefined, [...buffers]);
  port1.close();
}
