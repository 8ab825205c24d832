import {formatIp, type IpRange, parseIp, rangeContains, reachedIp} from '../ip/ip-address.ts';
import type {BlockToggle} from '../ip/special-ranges.ts';
import type {GuardPolicy} from './guard-policy.ts';

/** Why an address may not be reached; the first three are the details of `ssrf_blocked`. */
export interface BlockedAddress {
  readonly blocked_ip: string;
  readonly cidr: string;
  /** Absent for what no toggle can switch off. */
  readonly toggle?: BlockToggle;
  /** Completes "{blocked_ip} is …". */
  readonly description: string;
}

type AddressPolicy = Pick<GuardPolicy, 'special' | 'additional' | 'disabled'>;

/**
 * FR-WF-05, ruling A6. `undefined` means that the address may be reached. `opened` are ranges that are not blocked
 * for this host; `additional_blocked_cidrs` blocks there too.
 */
export function classifyAddress(
  address: string,
  policy: AddressPolicy,
  opened?: readonly IpRange[],
): BlockedAddress | undefined {
  const parsed = parseIp(address);
  // Fail closed: what is no address here might be one to the system.
  if (parsed === undefined) {
    return {blocked_ip: address, cidr: '::/0', description: 'not an address that can be checked'};
  }
  const reached = reachedIp(parsed);
  // Sorted by length, so the first that contains the address is the most specific one.
  const special = policy.special.find(row => rangeContains(row.range, reached));
  const isOpen = opened?.some(range => rangeContains(range, reached));
  if (special !== undefined && !isOpen && !policy.disabled.has(special.toggle)) {
    const {toggle, description} = special;
    return {blocked_ip: formatIp(reached), cidr: special.range.cidr, toggle, description};
  }
  // FR-WF-05g: always, whichever of its forms the address was written in.
  for (const form of [reached, parsed]) {
    const listed = policy.additional.find(range => rangeContains(range, form));
    if (listed === undefined) continue;
    const description = 'an address that additional_blocked_cidrs lists';
    return {blocked_ip: formatIp(form), cidr: listed.cidr, description};
  }
  return undefined;
}
