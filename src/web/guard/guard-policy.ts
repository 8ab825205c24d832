import {fail} from '../../core/failure/fail.ts';
import {ok, type Result} from '../../core/result.ts';
import {type IpRange, parseIpRange} from '../ip/ip-address.ts';
import {BLOCK_TOGGLES, type BlockToggle, SPECIAL_RANGES, type SpecialRange} from '../ip/special-ranges.ts';
import type {WebFetchOptions} from '../options.ts';
import {describeOpening, type Opening, readOpenings} from './openings.ts';

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
  if (allowPrivate.length > 0 && !security.allow_insecure_overrides) {
    const hosts = allowPrivate.map(({host}) => `"${host}"`).join(', ');
    problems.push(
      'SSRF protection cannot be opened for a host without allow_insecure_overrides=true\n' +
        `Affected settings: allow_private for ${hosts}`,
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
  return fail('bad_args', `${field} contains ${entries}. Have the operator list integers from 1 to 65535.`, {
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
