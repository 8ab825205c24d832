import {fail} from '../../core/failure/fail.ts';
import {ok, type Result} from '../../core/result.ts';
import type {CheckedUrl, WebUrl} from '../page.ts';
import {classifyAddress} from './classify-address.ts';
import type {GuardPolicy} from './guard-policy.ts';
import {isLoopbackName, LOOPBACK_ADDRESSES} from './loopback-name.ts';
import {ssrfBlocked} from './ssrf-blocked.ts';

/**
 * Ruling A1: what can be checked without a resolver, so that it also holds for cached pages.
 *
 * Errors: `port_blocked`, `ssrf_blocked`.
 */
export function checkUrl(url: WebUrl, policy: GuardPolicy): Result<CheckedUrl> {
  // FR-WF-05e
  if (!policy.allowedPorts.includes(url.port)) {
    const allowed = policy.allowedPorts.join(', ');
    const message = `Port ${url.port} is not allowed. Use one of ${allowed}, or have it listed in allowed_ports.`;
    return fail('port_blocked', message, {port: url.port, allowed_ports: policy.allowedPorts});
  }

  const named = url.address === undefined;
  const addresses = named ? (isLoopbackName(url.name) ? LOOPBACK_ADDRESSES : []) : [url.address];
  for (const address of addresses) {
    const blocked = classifyAddress(address, policy);
    if (blocked !== undefined) return ssrfBlocked(blocked, named ? url.host : undefined);
  }
  return ok({url} as CheckedUrl);
}
