import {Places} from '../../core/async/places.ts';
import type {Budget} from '../../core/budget.ts';
import type {Result} from '../../core/result.ts';

type Addresses = Result<readonly string[]>;

/** A page names as many hosts as it likes; their look-ups wait for each other. */
const MOST_LOOKUPS = 8;

/**
 * Ruling A5: the addresses of each host, resolved once per tool call and never again (FR-WF-DNS-01,
 * step 3). One for each call; robots.txt, page and redirects share it.
 */
export class HostPins {
  readonly #asked = new Map<string, Promise<Addresses>>();
  readonly #lookups = new Places();

  /** What `ask` answered the first time for this name, a failure included. */
  async resolve(name: string, budget: Budget, ask: () => Promise<Addresses>): Promise<Addresses> {
    budget.enter('dns');
    for (;;) {
      const earlier = this.#asked.get(name);
      if (earlier === undefined) {
        const answer = this.#ask(budget, ask);
        this.#asked.set(name, answer);
        return answer;
      }
      const shared = await budget.race(earlier);
      if (!shared.ok) return shared;
      if (!ranOut(shared.value)) return shared.value;
      // Who asked had a budget of its own (ruling B2) and spent it: nothing was resolved.
      if (budget.spent) return budget.failure();
      if (this.#asked.get(name) === earlier) this.#asked.delete(name);
    }
  }

  async #ask(budget: Budget, ask: () => Promise<Addresses>): Promise<Addresses> {
    const lookups = this.#lookups;
    const giveBack = lookups.tryTake(MOST_LOOKUPS) ?? (await lookups.take(MOST_LOOKUPS, budget.signal));
    if (giveBack === undefined) return budget.failure();
    try {
      return await ask();
    } finally {
      giveBack();
    }
  }
}

function ranOut(answer: Addresses): boolean {
  return !answer.ok && (answer.error.code === 'timeout' || answer.error.code === 'cancelled');
}
