import type {Clock} from '../../core/clock.ts';
import type {WarmSandbox} from './warm-sandbox.ts';

/** A command that follows another one at once finds a sandbox as well. */
export const WARM_SANDBOXES = 2;
/** A command that runs for longer leaves time to make the next sandboxes. */
const SHORT_COMMAND_MS = 10;

/** Undefined where it could not be made. */
export type WaitingSandbox = Promise<WarmSandbox | undefined>;

/** Sandboxes that wait for a command, or are on the way to it, the oldest first. Whoever takes one ends it. */
export class WaitingSandboxes {
  readonly #clock: Clock;
  readonly #sandboxes: WaitingSandbox[] = [];
  /** Calls that wait for their sandbox, and commands that have just begun. */
  #aboutToRun = 0;
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  takeOldest(): WaitingSandbox | undefined {
    return this.#sandboxes.shift();
  }

  takeAll(): readonly WaitingSandbox[] {
    return this.#sandboxes.splice(0);
  }

  /** From here on none is made. */
  close(): void {
    this.#closed = true;
  }

  /** None is made meanwhile: on one core that would take the time of the sandbox that a call waits for. */
  async whileTaking<Taken>(take: () => Promise<Taken>): Promise<Taken> {
    this.#aboutToRun += 1;
    try {
      return await take();
    } finally {
      this.#aboutToRun -= 1;
    }
  }

  /** Runs a command, and then has the next sandboxes made; where it runs for longer, beside it. */
  async whileRunning<Ran>(make: () => WaitingSandbox, run: () => Promise<Ran>): Promise<Ran> {
    let isAbout = true;
    this.#aboutToRun += 1;
    const fill = (): void => {
      if (!isAbout) return;
      isAbout = false;
      this.#aboutToRun -= 1;
      if (this.#aboutToRun > 0) return;
      while (!this.#closed && this.#sandboxes.length < WARM_SANDBOXES) this.#sandboxes.push(make());
    };
    const cancel = this.#clock.after(SHORT_COMMAND_MS, fill);
    try {
      return await run();
    } finally {
      cancel();
      // The answer goes out first: to look at the workspace and to start a process keeps us from it.
      setImmediate(fill);
    }
  }
}
