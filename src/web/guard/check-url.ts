import {fail} from '../../core/failure/fail.ts';
import type {Failure} from '../../core/failure/failure.ts';
import {type Err, ok, type Result} from '../../core/result.ts';
import type {CheckedUrl, WebUrl} from '../page.ts';
import {classifyAddress} from './classify-address.ts';
import type {GuardPolicy} from './guard-policy.ts';
import {isLoopbackName, LOOPBACK_ADDRESSES} from './loopback-name.ts';
import {openingOf} from './openings.ts';
import {ssrfBlocked} from './ssrf-blocked.ts';

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
  const message = `Port ${port} is not allowed. Use one of ${allowed}, or have it listed in allowed_ports.`;
  return fail('port_blocked', message, {port, allowed_ports: allowedPorts});
}
