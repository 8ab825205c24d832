import {onTestFinished} from 'vitest';
import {systemClock} from '../../src/core/clock.ts';
import {Deadline} from '../../src/core/deadline.ts';
import {checkUrl} from '../../src/web/guard/check-url.ts';
import {createGuard, createSsrfValidator, type Guard, HostPins} from '../../src/web/guard/guard.ts';
import {type GuardPolicy, readGuardPolicy} from '../../src/web/guard/policy.ts';
import type {HostResolver} from '../../src/web/guard/resolver.ts';
import type {CheckedUrl} from '../../src/web/page.ts';
import {parseUrl} from '../../src/web/url.ts';

export function policyOf(
  changes: Partial<Parameters<typeof readGuardPolicy>[0]> = {},
  allowPrivate?: Parameters<typeof readGuardPolicy>[1],
): GuardPolicy {
  const read = readGuardPolicy(
    {
      block_private_ips: true,
      block_loopback: true,
      block_link_local: true,
      block_reserved: true,
      allowed_ports: [],
      additional_blocked_cidrs: [],
      max_dns_attempts: 2,
      allow_insecure_overrides: true,
      ...changes,
    },
    allowPrivate,
  );
  if (!read.ok) throw new Error(read.error.join('\n'));
  return read.value.policy;
}

export function checked(url: string, policy = policyOf()): CheckedUrl {
  const parsed = parseUrl(url);
  if (!parsed.ok) throw new Error(parsed.error.message);
  const result = checkUrl(parsed.value, policy, true);
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

export function newBudget(ms = 20_000, caller?: AbortSignal): Deadline {
  const budget = new Deadline(ms, systemClock, caller);
  onTestFinished(() => budget.close());
  return budget;
}

/** Answers every name with these addresses, and counts how often it is asked. */
export function stubResolver(addresses: readonly string[]) {
  const asked: string[] = [];
  const resolver: HostResolver = {
    resolve: async name => {
      asked.push(name);
      return addresses;
    },
  };
  return {resolver, asked};
}

export function guardOver(resolver: HostResolver, policy = policyOf()): Guard {
  return createGuard(createSsrfValidator(policy, resolver), policy);
}

/** The addresses of an admitted target, or code and details of the refusal. */
export async function authorize(guard: Guard, url: string, pins = new HostPins(), budget = newBudget()) {
  const result = await guard.authorize(checked(url), pins, budget);
  if (!result.ok) return {code: result.error.code, ...result.error.details};
  return {addresses: result.value.addresses, pinned: [...result.value.pinned]};
}
