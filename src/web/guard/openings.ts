import {toUrl} from '../../core/text/to-url.ts';
import {type IpRange, parseIp, parseIpRange, rangeContains} from '../ip/ip-address.ts';
import type {SpecialRange} from '../ip/special-ranges.ts';
import type {WebFetchOptions} from '../options.ts';
import type {WebUrl} from '../page.ts';

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
function hostName(host: string): string | undefined {
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
