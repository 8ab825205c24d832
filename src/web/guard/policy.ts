// The guard's settings, checked: ports, ranges, and hosts that are opened.

import {fail, ok, type Result} from '../../core/result.ts';
import {toUrl} from '../../core/text/parse.ts';
import type {WebFetchOptions} from '../options.ts';
import type {WebUrl} from '../page.ts';
import {
  BLOCK_TOGGLES,
  type BlockToggle,
  type IpRange,
  parseIp,
  parseIpRange,
  rangeContains,
  SPECIAL_RANGES,
  type SpecialRange,
} from './ip.ts';

/** What the guard lets through. Made once, at start-up. */
export interface GuardPolicy {
  readonly allowedPorts: readonly number[];
  /** Most specific first. */
  readonly special: readonly (SpecialRange & {readonly range: IpRange})[];
  readonly disabled: ReadonlySet<BlockToggle>;
  readonly additional: readonly IpRange[];
  /** What is reachable of the blocked ranges all the same, for hosts that the operator names. */
  readonly openings: readonly Opening[];
  readonly maxDnsAttempts: number;
}

export interface GuardSettings {
  readonly policy: GuardPolicy;
  /** Lines to log at start-up. */
  readonly warnings: readonly string[];
}

const DEFAULT_PORTS: readonly number[] = [80, 443];

/** Reads `[tools.webfetch.security]` and `[[tools.webfetch.allow_private]]`. The error holds the messages with which start-up is refused. */
export function readGuardPolicy(
  security: WebFetchOptions['security'],
  allowPrivate: WebFetchOptions['allow_private'] = [],
): Result<GuardSettings, readonly string[]> {
  const problems: string[] = [];
  const off = BLOCK_TOGGLES.filter(toggle => !security[toggle]);
  // FR-WF-SEC-OVR-01
  if (off.length > 0 && !security.allow_insecure_overrides) {
    problems.push(
      'SSRF protection cannot be disabled without allow_insecure_overrides=true\n' +
        `Affected settings: ${off.map(toggle => `${toggle}=false`).join(', ')}`,
    );
  }
  const special = compileSpecialRanges();
  const opened = readOpenings(allowPrivate, special);
  problems.push(...opened.problems);
  const additional: IpRange[] = [];
  for (const entry of security.additional_blocked_cidrs) {
    const range = parseIpRange(entry);
    if (range !== undefined) additional.push(range);
    // FR-WF-05g
    else {
      problems.push(
        `tools.webfetch.security.additional_blocked_cidrs contains "${entry}", which is no CIDR range\n` +
          'Write an address and a prefix length, such as 10.20.0.0/16 or 2001:db8::/32',
      );
    }
  }
  if (problems.length > 0) return {ok: false, error: problems};

  // FR-WF-PORT-01: the list is complete; an empty one means the default.
  const ports = security.allowed_ports;
  return ok({
    policy: {
      allowedPorts: ports.length === 0 ? DEFAULT_PORTS : ports,
      special,
      disabled: new Set(off),
      additional,
      openings: opened.openings,
      maxDnsAttempts: security.max_dns_attempts,
    },
    // FR-WF-05b
    warnings: [
      ...(off.length === 0 ? [] : [`SSRF protection disabled for: ${off.join(', ')}`]),
      ...opened.openings.map(opening => `SSRF protection opened for ${describeOpening(opening)}`),
    ],
  });
}

/** Ruling A9: a list of ports with an impossible entry makes every call `bad_args`, before its URL is read. */
export function checkPortSetting(policy: GuardPolicy): Result<undefined> {
  const wrong = policy.allowedPorts.filter(port => !Number.isInteger(port) || port < 1 || port > 65_535);
  if (wrong.length === 0) return ok();
  const field = 'tools.webfetch.security.allowed_ports';
  const entries = wrong.join(', ');
  return fail('bad_args', `${field} contains ${entries}. List integers from 1 to 65535.`, {
    field,
    reason: `not a port: ${entries}`,
  });
}

function compileSpecialRanges(): GuardPolicy['special'] {
  const rows = SPECIAL_RANGES.map(row => {
    const range = parseIpRange(row.cidr);
    if (range === undefined) throw new TypeError(`Expected a CIDR range, got "${row.cidr}"`);
    return {...row, range};
  });
  return rows.sort((a, b) => b.range.bits - a.range.bits);
}

/** What the operator opens of the blocked ranges: one host on one port, where its addresses lie in these ranges. */
export interface Opening {
  readonly name: string;
  readonly port: number;
  readonly ranges: readonly IpRange[];
}

type Entries = WebFetchOptions['allow_private'];
type BlockedRanges = readonly (SpecialRange & {readonly range: IpRange})[];

const KEY = 'tools.webfetch.allow_private';
/** `::/3`, `4000::/2` and `8000::/1` are not networks that somebody runs. */
const LEAST_BITS = 4;

/** Reads `[[tools.webfetch.allow_private]]`. Problems are the messages with which start-up is refused. */
export function readOpenings(
  entries: Entries,
  special: BlockedRanges,
): {readonly openings: readonly Opening[]; readonly problems: readonly string[]} {
  const problems: string[] = [];
  const openings = new Map<string, {name: string; port: number; ranges: IpRange[]}>();
  entries.forEach(({host, cidr, ports}, index) => {
    const refuse = (key: string, value: string, expected: string): void => {
      problems.push(`Expected ${KEY}[${index}].${key} to be ${expected}, got "${value}".`);
    };
    const name = hostName(host);
    if (name === undefined) refuse('host', host, 'one host, such as "wiki.example.com" or "10.1.2.3"');
    const range = parseIpRange(cidr);
    if (range === undefined) refuse('cidr', cidr, 'a CIDR range, such as "10.1.2.0/24"');
    else if (!isBlocked(range, special)) {
      refuse(
        'cidr',
        cidr,
        'part of one range that is blocked, such as 10.0.0.0/8; nothing else needs opening',
      );
    }
    const wrong = ports.find(port => !Number.isInteger(port) || port < 1 || port > 65_535);
    if (wrong !== undefined) refuse('ports', String(wrong), 'a list of integers from 1 to 65535');
    if (ports.length === 0) refuse('ports', '', 'a list of at least one port');
    if (name === undefined || range === undefined) return;
    const literal = parseIp(name);
    if (literal !== undefined && !rangeContains(range, literal))
      refuse('cidr', cidr, `a range that holds ${name}`);
    for (const port of ports) {
      const known = openings.get(`${name} ${port}`);
      if (known) known.ranges.push(range);
      else openings.set(`${name} ${port}`, {name, port, ranges: [range]});
    }
  });
  return {openings: [...openings.values()], problems};
}

/** What is opened for an address. A name that merely leads into the same range has none. */
export function openingOf(
  {name, port}: Pick<WebUrl, 'name' | 'port'>,
  openings: readonly Opening[],
): Opening | undefined {
  return openings.find(opening => opening.name === name && opening.port === port);
}

/** One line of the warning at start-up. */
export function describeOpening({name, port, ranges}: Opening): string {
  return `${name.includes(':') ? `[${name}]` : name}:${port} in ${ranges.map(({cidr}) => cidr).join(', ')}`;
}

/** As `WebUrl.name` has it: lower case, punycode, no brackets, no trailing dot. */
export function hostName(host: string): string | undefined {
  // `*`, a path, a user, or a port after brackets in it means something else than one host.
  if (/[*@/?#\\\s]|\]./.test(host)) return undefined;
  // Any other colon is one of an address, or an error.
  const written = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  return toUrl(`http://${written}/`)?.hostname.replace(/[[\]]/g, '').replace(/\.$/, '');
}

function isBlocked(range: IpRange, special: BlockedRanges): boolean {
  const [first = 0, ...others] = range.network;
  const network = {family: range.family, words: [first, ...others]} as const;
  return special.some(
    row => row.range.bits >= LEAST_BITS && row.range.bits <= range.bits && rangeContains(row.range, network),
  );
}
