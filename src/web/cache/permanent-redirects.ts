import type {Clock} from '../../core/clock.ts';
import type {CanonicalUrl} from '../page.ts';

interface Remembered {
  readonly target: CanonicalUrl;
  readonly expiresAt: number;
}

/** Ruling F2 (extension): which URLs lead to which for good. In memory, bounded, the oldest go first. */
export class PermanentRedirects {
  readonly #targets = new Map<CanonicalUrl, Remembered>();
  readonly #maxEntries: number;
  readonly #ttlMs: number;
  readonly #clock: Clock;

  constructor(maxEntries: number, ttlMs: number, clock: Clock) {
    this.#maxEntries = maxEntries;
    this.#ttlMs = ttlMs;
    this.#clock = clock;
  }

  remember(from: CanonicalUrl, target: CanonicalUrl): void {
    this.#targets.delete(from);
    this.#targets.set(from, {target, expiresAt: this.#clock.now() + this.#ttlMs});
    const oldest = this.#targets.keys().next();
    if (this.#targets.size > this.#maxEntries && !oldest.done) this.#targets.delete(oldest.value);
  }

  recall(from: CanonicalUrl): CanonicalUrl | undefined {
    const remembered = this.#targets.get(from);
    return remembered && remembered.expiresAt > this.#clock.now() ? remembered.target : undefined;
  }
}
