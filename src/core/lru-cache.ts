// Values in memory, until their time is over or others push them out.

import type {Clock} from './clock.ts';

interface Kept<Value> {
  readonly value: Value;
  readonly storedAt: number;
  readonly ttlMs: number;
  readonly bytes: number;
}

interface LruLimits {
  readonly entries: number;
  /** Of memory. Default: as much as there is. */
  readonly bytes?: number;
  /** Default: for ever. */
  readonly ttlMs?: number;
}

/** What was used or set least recently goes first. With 0 entries nothing is ever kept. */
export class LruCache<Value> {
  /** In the order of last use. */
  readonly #kept = new Map<string, Kept<Value>>();
  readonly #limits: LruLimits;
  readonly #clock: Clock;
  #bytes = 0;

  constructor(limits: LruLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  get(key: string): Value | undefined {
    const kept = this.#live(key);
    if (!kept) return undefined;
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    return kept.value;
  }

  /** The same, which does not count as a use. */
  peek(key: string): Value | undefined {
    return this.#live(key)?.value;
  }

  /** What takes more `bytes` than there are for all is not kept. `leftMs`: what is left of the time of the value. */
  set(key: string, value: Value, bytes = 0, leftMs = Number.POSITIVE_INFINITY): void {
    const {entries, bytes: most = Number.POSITIVE_INFINITY, ttlMs = Number.POSITIVE_INFINITY} = this.#limits;
    this.delete(key);
    if (entries === 0 || bytes > most) return;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size < entries && this.#bytes + bytes <= most) break;
      this.delete(oldest);
    }
    this.#kept.set(key, {value, storedAt: this.#clock.now(), ttlMs: Math.min(ttlMs, leftMs), bytes});
    this.#bytes += bytes;
  }

  delete(key: string): void {
    this.#bytes -= this.#kept.get(key)?.bytes ?? 0;
    this.#kept.delete(key);
  }

  #live(key: string): Kept<Value> | undefined {
    const kept = this.#kept.get(key);
    if (!kept) return undefined;
    const age = this.#clock.now() - kept.storedAt;
    // A clock that was set back would make the entry last longer than it may.
    if (age >= 0 && age < kept.ttlMs) return kept;
    this.delete(key);
    return undefined;
  }
}
