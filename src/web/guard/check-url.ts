// Judges a URL and an address before anything is resolved or connected.

import {type Err, type Failure, fail, ok, type Result} from '../../core/result.ts';
import type {CheckedUrl, WebUrl} from '../page.ts';
import {type BlockToggle, formatIp, type IpRange, parseIp, rangeContains, reachedIp} from './ip.ts';
import {type GuardPolicy, openingOf} from './policy.ts';

/**
 * Ruling A1: what can be checked without a resolver, so that it also holds for cached pages.
 *
 * `mayOpen` says whether what the operator opened (`allow_private`) holds here: it does for the address that a
 * call asks for, and for those that an opened one leads to.
 *
 * Errors: `port_blocked`, `ssrf_blocked`.
 */
export function checkUrl(url: WebUrl, policy: GuardPolicy, mayOpen: boolean): Result<CheckedUrl> {
  const opening = mayOpen ? openingOf(url, policy.openings) : undefined;
  // FR-WF-05e
  if (opening === undefined && !policy.allowedPorts.includes(url.port)) return portBlocked(url.port, policy);

  const named = url.address === undefined;
  // A loopback name that is opened has the addresses that are opened; which ones is for `authorize`.
  const isLoopback = named && opening === undefined && isLoopbackName(url.name);
  const addresses = named ? (isLoopback ? LOOPBACK_ADDRESSES : []) : [url.address];
  for (const address of addresses) {
    const blocked = classifyAddress(address, policy, opening?.ranges);
    if (blocked !== undefined) return ssrfBlocked(blocked, named ? url.host : undefined);
  }
  return ok({url, opened: opening !== undefined} as CheckedUrl);
}

export function portBlocked(port: number, {allowedPorts}: Pick<GuardPolicy, 'allowedPorts'>): Err<Failure> {
  const allowed = allowedPorts.join(', ');
  const message = `Port ${port} is not allowed. Use one of ${allowed}.`;
  return fail('port_blocked', message, {port, allowed_ports: allowedPorts});
}

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

/** What a loopback name stands for without a resolver; the first is the one reported. */
export const LOOPBACK_ADDRESSES = ['127.0.0.1', '::1'] as const;

/** Ruling A5, RFC 6761 §6.3: `localhost` and everything below it, in any case, with trailing dots. */
export function isLoopbackName(name: string): boolean {
  return /(?:^|\.)localhost\.{0,2}$/i.test(name);
}

/** The failure for a blocked address; `host` is given where a name led to it. */
export function ssrfBlocked(blocked: BlockedAddress, host?: string): Err<Failure> {
  const {blocked_ip, cidr, toggle, description} = blocked;
  const subject = host === undefined ? `${blocked_ip} is` : `"${host}" resolves to ${blocked_ip},`;
  return fail('ssrf_blocked', `${subject} ${description} (${cidr}). Use a public address.`, {
    blocked_ip,
    cidr,
    toggle,
    host,
  });
}
