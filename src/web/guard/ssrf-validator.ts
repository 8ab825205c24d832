import type {Budget} from '../../core/budget.ts';
import {ok, type Result} from '../../core/result.ts';
import type {IpRange} from '../ip/ip-address.ts';
import {classifyAddress} from './classify-address.ts';
import type {HostResolver} from './dns/host-resolver.ts';
import {resolveHost} from './dns/resolve-host.ts';
import type {GuardPolicy} from './guard-policy.ts';
import {ssrfBlocked} from './ssrf-blocked.ts';

/** FR-WF-06b: the seam at which tests put an answer of their own in place of the real network. */
export interface SsrfValidator {
  /** `ssrf_blocked` unless the address may be reached. `opened` are ranges that are not blocked for this host. */
  readonly validateIp: (ip: string, opened?: readonly IpRange[]) => Result<undefined>;
  /** All addresses of the host, every one of them valid; in any order. */
  readonly resolveAndValidate: (
    host: string,
    budget: Budget,
    opened?: readonly IpRange[],
  ) => Promise<Result<readonly string[]>>;
}

export function createSsrfValidator(policy: GuardPolicy, resolver: HostResolver): SsrfValidator {
  return {
    validateIp: (ip, opened) => {
      const blocked = classifyAddress(ip, policy, opened);
      return blocked === undefined ? ok() : ssrfBlocked(blocked);
    },
    resolveAndValidate: async (host, budget, opened) => {
      const answers = await resolveHost(host, resolver, budget);
      if (!answers.ok) return answers;
      // Ruling A5: one blocked address blocks the request.
      for (const address of answers.value) {
        const blocked = classifyAddress(address, policy, opened);
        if (blocked !== undefined) return ssrfBlocked(blocked, host);
      }
      return answers;
    },
  };
}
