import type {Clock} from '../../core/clock.ts';

interface Remembered<Rules> {
  readonly rules: Rules;
  readonly storedAt: number;
  readonly ttlMs: number;
  readonly bytes: number;
}

export interface RobotsCacheLimits {
  readonly entries: number;
  /** Of memory: a site chooses how large its file is, so a thousand of them must not choose for us. */
  readonly bytes: number;
  readonly ttlMs: number;
}

/** FR-WF-08f, FR-WF-08g: what origins said, in memory, until its time is over or others push it out. */
export class RobotsCache<Rules> {
  /** In the order of last use. */
  readonly #byOrigin = new Map<string, Remembered<Rules>>();
  readonly #limits: RobotsCacheLimits;
  readonly #clock: Clock;
  #bytes = 0;

  /** FR-WF-ROBOTS-CACHE-03: with 0 entries nothing is ever remembered. */
  constructor(limits: RobotsCacheLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  get(origin: string): Rules | undefined {
    const remembered = this.#byOrigin.get(origin);
    if (!remembered) return undefined;
    const age = this.#clock.now() - remembered.storedAt;
    // A clock that was set back would make the entry last longer than it may.
    if (age < 0 || age >= remembered.ttlMs) {
      this.#delete(origin);
      return undefined;
    }
    this.#byOrigin.delete(origin);
    this.#byOrigin.set(origin, remembered);
    return remembered.rules;
  }

  /**
   * `bytes` is what the rules take. Rules that are larger than the whole cache are not remembered. `leftMs`: what is
   * left of the time of rules that others have read.
   */
  set(origin: string, rules: Rules, bytes: number, leftMs = Number.POSITIVE_INFINITY): void {
    const {entries, bytes: most, ttlMs} = this.#limits;
    this.#delete(origin);
    if (entries === 0 || bytes > most) return;
    for (const oldest of this.#byOrigin.keys()) {
      if (this.#byOrigin.size < entries && this.#bytes + bytes <= most) break;
      this.#delete(oldest);
    }
    this.#byOrigin.set(origin, {rules, storedAt: this.#clock.now(), ttlMs: Math.min(ttlMs, leftMs), bytes});
    this.#bytes += bytes;
  }

  #delete(origin: string): void {
    this.#bytes -= this.#byOrigin.get(origin)?.bytes ?? 0;
    this.#byOrigin.delete(origin);
  }
}
