import type {Budget} from '../../core/budget.ts';
import {fail} from '../../core/failure/fail.ts';
import {ok, type Result} from '../../core/result.ts';
import {sortAddresses} from '../ip/sort-addresses.ts';
import type {CheckedUrl, PinnedTarget, WebUrl} from '../page.ts';
import type {GuardPolicy} from './guard-policy.ts';
import type {HostPins} from './host-pins.ts';
import {isLoopbackName, LOOPBACK_ADDRESSES} from './loopback-name.ts';
import type {SsrfValidator} from './ssrf-validator.ts';

/** Ruling A5: all answers are checked; so many are kept to connect to. */
const MOST_KEPT = 64;

export interface Guard {
  /** Leave to connect. Errors: `dns_failed`, `ssrf_blocked`, `timeout`, `cancelled`. */
  readonly authorize: (checked: CheckedUrl, pins: HostPins, budget: Budget) => Promise<Result<PinnedTarget>>;
}

export function createGuard(validator: SsrfValidator, policy: Pick<GuardPolicy, 'maxDnsAttempts'>): Guard {
  const addressesOf = async (
    url: WebUrl,
    pins: HostPins,
    budget: Budget,
  ): Promise<Result<readonly string[]>> => {
    if (url.address !== undefined) return validateAll([url.address], validator);
    if (isLoopbackName(url.name)) return validateAll(LOOPBACK_ADDRESSES, validator);
    return pins.resolve(url.name, budget, () => validator.resolveAndValidate(url.name, budget));
  };
  return {
    authorize: async ({url}, pins, budget) => {
      const found = await addressesOf(url, pins, budget);
      if (!found.ok) return found;
      // Resolved is not authorized: the call may have been cancelled meanwhile.
      if (budget.spent) return budget.failure();
      const kept = sortAddresses(found.value).slice(0, MOST_KEPT);
      // FR-WF-DNS-01, step 2
      const [first, ...others] = kept.slice(0, policy.maxDnsAttempts);
      if (first === undefined) {
        const message = `"${url.name}" has no address. Check the spelling of the host.`;
        return fail('dns_failed', message, {host: url.name, error: 'ENODATA'});
      }
      const addresses: PinnedTarget['addresses'] = [first, ...others];
      const pinned: PinnedTarget['pinned'] = new Set(kept);
      return ok({url, addresses, pinned} as PinnedTarget);
    },
  };
}

function validateAll(addresses: readonly string[], validator: SsrfValidator): Result<readonly string[]> {
  for (const address of addresses) {
    const valid = validator.validateIp(address);
    if (!valid.ok) return valid;
  }
  return ok(addresses);
}
