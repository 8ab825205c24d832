import type {Budget} from '../../core/budget.ts';
import {fail} from '../../core/failure/fail.ts';
import {ok, type Result} from '../../core/result.ts';
import {type IpRange, parseIp, rangeContains, unmapIp} from '../ip/ip-address.ts';
import {sortAddresses} from '../ip/sort-addresses.ts';
import type {CheckedUrl, PinnedTarget, WebUrl} from '../page.ts';
import {portBlocked} from './check-url.ts';
import type {GuardPolicy} from './guard-policy.ts';
import type {HostPins} from './host-pins.ts';
import {isLoopbackName, LOOPBACK_ADDRESSES} from './loopback-name.ts';
import {type Opening, openingOf} from './openings.ts';
import type {SsrfValidator} from './ssrf-validator.ts';

/** Ruling A5: all answers are checked; so many are kept to connect to. */
const MOST_KEPT = 64;

export interface Guard {
  /** Leave to connect. Errors: `dns_failed`, `ssrf_blocked`, `timeout`, `cancelled`. */
  readonly authorize: (checked: CheckedUrl, pins: HostPins, budget: Budget) => Promise<Result<PinnedTarget>>;
}

export function createGuard(
  validator: SsrfValidator,
  policy: Pick<GuardPolicy, 'maxDnsAttempts' | 'openings' | 'allowedPorts'>,
): Guard {
  const addressesOf = async (
    url: WebUrl,
    pins: HostPins,
    budget: Budget,
  ): Promise<Result<readonly string[]>> => {
    if (url.address !== undefined) return validateAll([url.address], validator);
    if (isLoopbackName(url.name)) return validateAll(LOOPBACK_ADDRESSES, validator);
    return pins.resolve(url.name, budget, () => validator.resolveAndValidate(url.name, budget));
  };
  /** The same for a host that the operator opened: what is not in the opened ranges is checked as ever. */
  const openedAddressesOf = async (
    {name, port, address}: WebUrl,
    {ranges}: Opening,
    pins: HostPins,
    budget: Budget,
  ): Promise<Result<readonly string[]>> => {
    if (address !== undefined) return validateAll([address], validator, ranges);
    if (isLoopbackName(name)) {
      const open = LOOPBACK_ADDRESSES.filter(loopback => validator.validateIp(loopback, ranges).ok);
      return open.length > 0 ? ok(open) : validateAll(LOOPBACK_ADDRESSES, validator, ranges);
    }
    // What is valid on this port may not be on another one, so its answer is kept apart.
    const found = await pins.resolve(`${name}:${port}`, budget, () =>
      validator.resolveAndValidate(name, budget, ranges),
    );
    // A port that is open for these ranges only is not open for a public address of the host.
    if (!found.ok || policy.allowedPorts.includes(port)) return found;
    return found.value.every(one => isWithin(one, ranges)) ? found : portBlocked(port, policy);
  };
  return {
    authorize: async ({url, opened}, pins, budget) => {
      const opening = opened ? openingOf(url, policy.openings) : undefined;
      const found = await (opening === undefined
        ? addressesOf(url, pins, budget)
        : openedAddressesOf(url, opening, pins, budget));
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

function isWithin(address: string, ranges: readonly IpRange[]): boolean {
  const parsed = parseIp(address);
  return parsed !== undefined && ranges.some(range => rangeContains(range, unmapIp(parsed)));
}

function validateAll(
  addresses: readonly string[],
  validator: SsrfValidator,
  opened?: readonly IpRange[],
): Result<readonly string[]> {
  for (const address of addresses) {
    const valid = validator.validateIp(address, opened);
    if (!valid.ok) return valid;
  }
  return ok(addresses);
}
