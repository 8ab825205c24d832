import {Budget} from '../../core/budget.ts';
import {fail} from '../../core/failure/fail.ts';
import {ok, type Result} from '../../core/result.ts';
import type {FetchParts} from '../fetch-parts.ts';
import type {CheckedUrl} from '../page.ts';
import type {HostCall} from './host-call.ts';

/**
 * Ruling B2: robots.txt has `timeout_seconds` of its own. One allowance serves all origins of a
 * redirect chain, so that a call has an upper bound (docs/decisions/0004).
 */
export class RobotsTime {
  readonly #parts: FetchParts;
  #leftMs: number;

  constructor(parts: FetchParts) {
    this.#parts = parts;
    this.#leftMs = parts.options.timeout_seconds * 1000;
  }

  async check(
    checked: CheckedUrl,
    hosts: HostCall,
    caller: AbortSignal,
  ): Promise<Result<{readonly failOpen: boolean}>> {
    const {robots, clock, options} = this.#parts;
    const allowance = new Budget(this.#leftMs, clock, caller);
    try {
      const verdict = await robots.check(checked, hosts, allowance.signal);
      if (verdict.ok || verdict.error.code !== 'cancelled' || caller.aborted) return verdict;
      if (options.robots.fail_open) return ok({failOpen: true});
      const {origin} = checked.url;
      return fail(
        'robots_unavailable',
        `The robots.txt of ${origin} was not read within ${options.timeout_seconds} s. Retry later.`,
        {origin, error: 'timeout'},
      );
    } finally {
      this.#leftMs = allowance.remainingMs();
      allowance.close();
    }
  }
}
