// Says which addresses of a host may be reached, and pins them. Nothing else makes a `PinnedTarget`.

import type {Deadline} from '../../core/deadline.ts';
import {Places} from '../../core/places.ts';
import {type Err, type Failure, fail, ok, type Result} from '../../core/result.ts';
import type {CheckedUrl, PinnedTarget, WebUrl} from '../page.ts';
import {classifyAddress, isLoopbackName, LOOPBACK_ADDRESSES, portBlocked, ssrfBlocked} from './check-url.ts';
import {type IpRange, parseIp, rangeContains, sortAddresses, unmapIp} from './ip.ts';
import {type GuardPolicy, type Opening, openingOf, readOpenings} from './policy.ts';
import type {HostResolver} from './resolver.ts';

/** Ruling A5: all answers are checked; so many are kept to connect to. */
const MOST_KEPT = 64;

export interface Guard {
  /** Leave to connect. Errors: `dns_failed`, `ssrf_blocked`, `timeout`, `cancelled`. */
  readonly authorize: (
    checked: CheckedUrl,
    pins: HostPins,
    budget: Deadline,
  ) => Promise<Result<PinnedTarget>>;
}

export function createGuard(
  validator: SsrfValidator,
  policy: Pick<GuardPolicy, 'maxDnsAttempts' | 'openings' | 'allowedPorts'>,
): Guard {
  const addressesOf = async (
    url: WebUrl,
    pins: HostPins,
    budget: Deadline,
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
    budget: Deadline,
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

/** FR-WF-06b: the seam at which tests put an answer of their own in place of the real network. */
export interface SsrfValidator {
  /** `ssrf_blocked` unless the address may be reached. `opened` are ranges that are not blocked for this host. */
  readonly validateIp: (ip: string, opened?: readonly IpRange[]) => Result<undefined>;
  /** All addresses of the host, every one of them valid; in any order. */
  readonly resolveAndValidate: (
    host: string,
    budget: Deadline,
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

type Addresses = Result<readonly string[]>;

/** A page names as many hosts as it likes; their look-ups wait for each other. */
const MOST_LOOKUPS = 8;

/**
 * Ruling A5: the addresses of each host, resolved once per tool call and never again
 * (FR-WF-DNS-01). One for each call; robots.txt, page and redirects share it.
 */
export class HostPins {
  readonly #asked = new Map<string, Promise<Addresses>>();
  readonly #lookups = new Places();

  /** What `ask` answered the first time for this name, a failure included. */
  async resolve(name: string, budget: Deadline, ask: () => Promise<Addresses>): Promise<Addresses> {
    budget.enter('dns');
    for (;;) {
      const earlier = this.#asked.get(name);
      if (earlier === undefined) {
        const answer = this.#ask(budget, ask);
        this.#asked.set(name, answer);
        return answer;
      }
      const shared = await budget.race(earlier);
      if (!shared.ok) return shared;
      if (!ranOut(shared.value)) return shared.value;
      // Who asked had a budget of its own (ruling B2) and spent it: nothing was resolved.
      if (budget.spent) return budget.failure();
      if (this.#asked.get(name) === earlier) this.#asked.delete(name);
    }
  }

  async #ask(budget: Deadline, ask: () => Promise<Addresses>): Promise<Addresses> {
    const lookups = this.#lookups;
    const giveBack = lookups.tryTake(MOST_LOOKUPS) ?? (await lookups.take(MOST_LOOKUPS, budget.signal));
    if (giveBack === undefined) return budget.failure();
    try {
      return await ask();
    } finally {
      giveBack();
    }
  }
}

function ranOut(answer: Addresses): boolean {
  return !answer.ok && (answer.error.code === 'timeout' || answer.error.code === 'cancelled');
}

/**
 * FR-WF-06: the answers for a name, without duplicates and zones, not checked yet.
 *
 * Errors: `dns_failed` (FR-WF-06c), `timeout`, `cancelled`.
 */
export async function resolveHost(
  name: string,
  resolver: HostResolver,
  budget: Deadline,
): Promise<Result<readonly string[]>> {
  budget.enter('dns');
  if (budget.spent) return budget.failure();
  try {
    const answers = await budget.race(resolver.resolve(name, budget.signal));
    if (!answers.ok) return answers;
    if (answers.value.length === 0) return dnsFailed(name, 'ENODATA');
    return ok([...new Set(answers.value.map(withoutZone))]);
  } catch (error) {
    return budget.spent ? budget.failure() : dnsFailed(name, codeOf(error));
  }
}

/** The zone of a scoped answer (`fe80::1%eth0`) names an interface of this machine: nothing to connect by. */
function withoutZone(address: string): string {
  const zone = address.indexOf('%');
  return zone === -1 ? address : address.slice(0, zone);
}

function dnsFailed(host: string, error: string): Err<Failure> {
  const message = `"${host}" could not be resolved (${error}). Check the spelling; retry if it is right.`;
  return fail('dns_failed', message, {host, error});
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'EUNKNOWN';
}

/**
 * A failure of the guard, with the lines that open the asked address and the file that they go into. A later hop has no
 * such lines: an opening holds for what a call asks for. Without a `configFile` a program passed an object.
 */
export function withWayToOpen(
  failure: Failure,
  url: WebUrl,
  policy: GuardPolicy,
  configFile: string | undefined,
): Failure {
  const way = openingOf(url, policy.openings) ? undefined : wayToOpen(failure, url, policy, configFile);
  return way === undefined ? failure : {...failure, message: `${failure.message} ${way}`};
}

function wayToOpen(
  {code, details}: Failure,
  {name, port, address}: WebUrl,
  policy: GuardPolicy,
  configFile: string | undefined,
): string | undefined {
  const known = address === undefined ? (isLoopbackName(name) ? LOOPBACK_ADDRESSES : []) : [address];
  const blocked = known.flatMap(one => classifyAddress(one, policy) ?? []);
  const [first] = blocked;
  if (code === 'port_blocked' && details['port'] === port) {
    return first === undefined ? listPort(port, policy, configFile) : writeTables(blocked);
  }
  if (code !== 'ssrf_blocked') return undefined;
  if (first !== undefined)
    return details['blocked_ip'] === first.blocked_ip ? writeTables(blocked) : undefined;
  const {host, cidr, toggle} = details;
  return host === name && typeof cidr === 'string' ? writeTables([{cidr, toggle}]) : undefined;

  /** Nothing for what no opening reaches, such as `additional_blocked_cidrs`. */
  function writeTables(ranges: readonly {cidr: string; toggle?: unknown}[]): string | undefined {
    // Nobody's own page is at a link-local address, but the credentials of a cloud are.
    if (ranges.some(({toggle: by}) => by === undefined || by === 'block_link_local')) return undefined;
    const entries = ranges.map(range => ({host: name, cidr: range.cidr, ports: [port]}));
    if (readOpenings(entries, policy.special).problems.length > 0) return undefined;
    if (configFile === undefined) {
      return `If it is your own, pass tools.webfetch.allow_private = ${JSON.stringify(entries)} in the config of createToolbox.`;
    }
    const lines = entries.map(
      entry =>
        `[[tools.webfetch.allow_private]]\nhost = "${entry.host}"\ncidr = "${entry.cidr}"\nports = [${port}]\n`,
    );
    return `If it is your own, add these lines at the end of ${configFile}:\n${lines.join('')}`.trimEnd();
  }
}

function listPort(port: number, {allowedPorts}: GuardPolicy, configFile: string | undefined): string {
  const setting = `allowed_ports = ${JSON.stringify([...allowedPorts, port]).replaceAll(',', ', ')}`;
  return configFile === undefined
    ? `To open it for all hosts, pass tools.webfetch.security.${setting} in the config of createToolbox.`
    : `To open it for all hosts, write ${setting} below [tools.webfetch.security] in ${configFile}.`;
}
