import type {Clock} from '../../core/clock.ts';

interface Remembered<Rules> {
  readonly rules: Rules;
  readonly storedAt: number;
}

/** FR-WF-08f, FR-WF-08g: what origins said, in memory, until `ttlMs` is over or others push them out. */
export class RobotsCache<Rules> {
  /** In the order of last use. */
  readonly #byOrigin = new Map<string, Remembered<Rules>>();
  readonly #maxEntries: number;
  readonly #ttlMs: number;
  readonly #clock: Clock;

  /** FR-WF-ROBOTS-CACHE-03: with 0 entries nothing is ever remembered. */
  constructor(maxEntries: number, ttlMs: number, clock: Clock) {
    this.#maxEntries = maxEntries;
    this.#ttlMs = ttlMs;
    this.#clock = clock;
  }

  get(origin: string): Rules | undefined {
    const remembered = this.#byOrigin.get(origin);
    if (!remembered) return undefined;
    this.#byOrigin.delete(origin);
    const age = this.#clock.now() - remembered.storedAt;
    // A clock that was set back would make the entry last longer than it may.
    if (age < 0 || age >= this.#ttlMs) return undefined;
    this.#byOrigin.set(origin, remembered);
    return remembered.rules;
  }

  set(origin: string, rules: Rules): void {
    if (this.#maxEntries === 0) return;
    this.#byOrigin.delete(origin);
    const [oldest] = this.#byOrigin.keys();
    if (this.#byOrigin.size >= this.#maxEntries && oldest !== undefined) this.#byOrigin.delete(oldest);
    this.#byOrigin.set(origin, {rules, storedAt: this.#clock.now()});
  }
}
