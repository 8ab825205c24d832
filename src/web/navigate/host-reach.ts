import {fail} from '../../core/failure/fail.ts';
import {ok, type Result} from '../../core/result.ts';
import type {HostDecision} from '../../core/tool.ts';
import type {WebUrl} from '../page.ts';

/** Whether the rules of whoever makes a call let it go on to a host that it is led to. */
export type MayReach = (host: string) => HostDecision;

/**
 * Review R11: the rules on hosts at every hop of one fetch: redirects, navigations, what a page loads, and the
 * redirects of robots.txt. The host that was asked for was decided about with the call.
 */
export class HostReach {
  readonly #own: string;
  readonly #mayReach: MayReach | undefined;
  readonly #decisions = new Map<string, boolean>();

  constructor(asked: WebUrl, mayReach: MayReach | undefined) {
    this.#own = asked.name;
    this.#mayReach = mayReach;
  }

  /** Errors: `approval_denied`. */
  permit({name, host}: WebUrl): Result<undefined> {
    if (name === this.#own) return ok();
    const decision = this.#mayReach?.(name) ?? {allowed: true};
    this.#decisions.set(name, decision.allowed);
    if (decision.allowed) return ok();
    const {reason} = decision;
    return fail('approval_denied', `The fetch was led to "${host}", and may not go there. ${reason}`, {
      host: name,
      reason,
    });
  }

  /** Whether a fetch under these other rules would have gone the same way. */
  agreesWith(mayReach: MayReach | undefined): boolean {
    return [...this.#decisions].every(([name, allowed]) => (mayReach?.(name).allowed ?? true) === allowed);
  }
}
