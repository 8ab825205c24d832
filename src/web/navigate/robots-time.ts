import {Budget} from '../../core/budget.ts';
import type {Clock} from '../../core/clock.ts';
import {fail} from '../../core/failure/fail.ts';
import {ok, type Result} from '../../core/result.ts';
import type {WebFetchOptions} from '../options.ts';
import type {CheckedUrl} from '../page.ts';
import type {RobotsAccess, RobotsLeave} from '../robots/robots-access.ts';
import type {HostCall} from './host-call.ts';

export interface RobotsTimeDeps {
  readonly options: Pick<WebFetchOptions, 'timeout_seconds' | 'robots'>;
  readonly robots: RobotsAccess<HostCall>;
  readonly clock: Clock;
}

/**
 * Ruling B2: robots.txt has `timeout_seconds` of its own. One allowance serves all origins of a
 * redirect chain, so that a call has an upper bound (docs/decisions/0004).
 */
export class RobotsTime {
  readonly #deps: RobotsTimeDeps;
  #leftMs: number;

  constructor(deps: RobotsTimeDeps) {
    this.#deps = deps;
    this.#leftMs = deps.options.timeout_seconds * 1000;
  }

  async check(checked: CheckedUrl, hosts: HostCall, caller: AbortSignal): Promise<Result<RobotsLeave>> {
    const {robots, clock, options} = this.#deps;
    const allowance = new Budget(this.#leftMs, clock, caller);
    try {
      const decision = await robots.check(checked, hosts, allowance.signal);
      if (decision.ok || decision.error.code !== 'cancelled' || caller.aborted) return decision;
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
