// IP addresses: parsing, ranges, the special ones, and the order to try them in.

/** An address as unsigned 32-bit words, most significant first: one for IPv4, four for IPv6. */
export interface IpAddress {
  readonly family: 4 | 6;
  readonly words: readonly number[];
}

/** A CIDR range, ready to be compared. */
export interface IpRange {
  readonly family: 4 | 6;
  /** Canonical text, host bits cleared. */
  readonly cidr: string;
  readonly bits: number;
  readonly masks: readonly number[];
  readonly network: readonly number[];
}

/** Strict: dotted decimal without leading zeros, or RFC 4291 text. No zone, no brackets. */
export function parseIp(text: string): IpAddress | undefined {
  if (text.includes(':')) return parseIpv6(text);
  const word = parseIpv4(text);
  return word === undefined ? undefined : {family: 4, words: [word]};
}

/** RFC 5952 text, as WHATWG and the sockets print it. */
export function formatIp({family, words}: IpAddress): string {
  if (family === 4) {
    const [word = 0] = words;
    return [word >>> 24, (word >>> 16) & 255, (word >>> 8) & 255, word & 255].join('.');
  }
  const groups = words.flatMap(word => [word >>> 16, word & 0xffff]);
  const zeros = longestZeroRun(groups);
  const print = (part: readonly number[]): string => part.map(group => group.toString(16)).join(':');
  if (zeros.length < 2) return print(groups);
  return `${print(groups.slice(0, zeros.start))}::${print(groups.slice(zeros.start + zeros.length))}`;
}

/** The IPv4 address that an IPv4-mapped one stands for; other addresses as they are. */
export function unmapIp(address: IpAddress): IpAddress {
  // An IPv4 address has one word only.
  const [first, second, third, fourth = 0] = address.words;
  const mapped = first === 0 && second === 0 && third === 0xffff;
  return mapped ? {family: 4, words: [fourth]} : address;
}

/** FR-WF-05a: also NAT64 (`64:ff9b::/96`): the address that is reached in the end is the one that is checked. */
export function reachedIp(address: IpAddress): IpAddress {
  const [first, second, third, fourth = 0] = address.words;
  const nat64 = first === 0x0064ff9b && second === 0 && third === 0;
  return nat64 ? {family: 4, words: [fourth]} : unmapIp(address);
}

/**
 * `address/bits`. Host bits are cleared. A range of IPv4-mapped addresses becomes the IPv4 range
 * that it means, as addresses do when they are checked.
 */
export function parseIpRange(text: string): IpRange | undefined {
  const written = text.trim();
  const slash = written.indexOf('/');
  const address = parseIp(written.slice(0, slash));
  const length = written.slice(slash + 1);
  const bits = Number(length);
  if (address === undefined || !/^(?:0|[1-9]\d{0,2})$/.test(length) || bits > address.words.length * 32) {
    return undefined;
  }
  const unmapped = unmapIp(address);
  return unmapped !== address && bits >= 96 ? range(unmapped, bits - 96) : range(address, bits);
}

export function rangeContains({family, masks, network}: IpRange, address: IpAddress): boolean {
  if (family !== address.family) return false;
  for (let at = 0; at < network.length; at += 1) {
    if (((address.words[at] ?? 0) & (masks[at] ?? 0)) >>> 0 !== network[at]) return false;
  }
  return true;
}

function parseIpv4(text: string): number | undefined {
  const octets = text.split('.');
  if (octets.length !== 4) return undefined;
  let word = 0;
  for (const octet of octets) {
    if (!/^(?:0|[1-9]\d{0,2})$/.test(octet)) return undefined;
    const value = Number(octet);
    if (value > 255) return undefined;
    word = word * 256 + value;
  }
  return word;
}

function parseIpv6(text: string): IpAddress | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [head = '', tail] = halves;
  const before = parseGroups(head, tail === undefined);
  const after = tail === undefined ? [] : parseGroups(tail, true);
  if (before === undefined || after === undefined) return undefined;
  const missing = 8 - before.length - after.length;
  // `::` stands for at least one group (RFC 4291 §2.2).
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  const groups = [...before, ...new Array<number>(missing).fill(0), ...after];
  const words: number[] = [];
  for (let at = 0; at < 8; at += 2) words.push((groups[at] ?? 0) * 0x10000 + (groups[at + 1] ?? 0));
  return {family: 6, words};
}

function parseGroups(text: string, mayEndInIpv4: boolean): readonly number[] | undefined {
  if (text === '') return [];
  const groups: number[] = [];
  const pieces = text.split(':');
  for (const [index, piece] of pieces.entries()) {
    if (/^[0-9a-f]{1,4}$/i.test(piece)) {
      groups.push(Number.parseInt(piece, 16));
      continue;
    }
    const ipv4 = mayEndInIpv4 && index === pieces.length - 1 ? parseIpv4(piece) : undefined;
    if (ipv4 === undefined) return undefined;
    groups.push(ipv4 >>> 16, ipv4 & 0xffff);
  }
  return groups;
}

function longestZeroRun(groups: readonly number[]): {start: number; length: number} {
  let best = {start: 0, length: 0};
  let start = 0;
  for (const [index, group] of groups.entries()) {
    if (group !== 0) start = index + 1;
    else if (index + 1 - start > best.length) best = {start, length: index + 1 - start};
  }
  return best;
}

function range({family, words}: IpAddress, bits: number): IpRange {
  const masks = words.map((_, at) => {
    const ones = Math.min(32, Math.max(0, bits - at * 32));
    return ones === 0 ? 0 : (0xffffffff << (32 - ones)) >>> 0;
  });
  const network = words.map((word, at) => (word & (masks[at] ?? 0)) >>> 0);
  return {family, cidr: `${formatIp({family, words: network})}/${bits}`, bits, masks, network};
}

/**
 * FR-WF-DNS-01: IPv6 first, then IPv4, each ascending by bytes; canonical text, no duplicates. An
 * IPv4-mapped address is connected to, and reported by the socket, as the IPv4 address it stands for.
 */
export function sortAddresses(addresses: readonly string[]): readonly string[] {
  const parsed = addresses.flatMap(text => {
    const address = parseIp(text);
    return address === undefined ? [] : [unmapIp(address)];
  });
  return [...new Set(parsed.sort(compare).map(formatIp))];
}

function compare(a: IpAddress, b: IpAddress): number {
  if (a.family !== b.family) return b.family - a.family;
  for (const [at, word] of a.words.entries()) {
    const difference = word - (b.words[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** The settings that can switch rows off, in the order in which they are reported. */
export const BLOCK_TOGGLES = [
  'block_private_ips',
  'block_loopback',
  'block_link_local',
  'block_reserved',
] as const;

export type BlockToggle = (typeof BLOCK_TOGGLES)[number];

export interface SpecialRange {
  readonly cidr: string;
  readonly toggle: BlockToggle;
  /** Completes "10.0.0.7 is …". */
  readonly description: string;
}

/**
 * FR-WF-05 and ruling A6: where rows overlap, the most specific one speaks for the address, so
 * that a toggle switches off exactly its own rows.
 *
 * `::ffff:0:0/96` and `64:ff9b::/96` have no row: the IPv4 address inside is checked.
 */
export const SPECIAL_RANGES: readonly SpecialRange[] = [
  // FR-WF-05, IPv4
  {cidr: '127.0.0.0/8', toggle: 'block_loopback', description: 'a loopback address'},
  {cidr: '10.0.0.0/8', toggle: 'block_private_ips', description: 'a private address'},
  {cidr: '172.16.0.0/12', toggle: 'block_private_ips', description: 'a private address'},
  {cidr: '192.168.0.0/16', toggle: 'block_private_ips', description: 'a private address'},
  {cidr: '169.254.0.0/16', toggle: 'block_link_local', description: 'a link-local address'},
  {cidr: '0.0.0.0/8', toggle: 'block_reserved', description: 'an address of "this network"'},
  {cidr: '100.64.0.0/10', toggle: 'block_reserved', description: 'a carrier-grade NAT address'},
  {cidr: '192.0.0.0/24', toggle: 'block_reserved', description: 'an IETF protocol address'},
  {cidr: '192.0.2.0/24', toggle: 'block_reserved', description: 'a documentation address'},
  {cidr: '198.51.100.0/24', toggle: 'block_reserved', description: 'a documentation address'},
  {cidr: '203.0.113.0/24', toggle: 'block_reserved', description: 'a documentation address'},
  {cidr: '224.0.0.0/4', toggle: 'block_reserved', description: 'a multicast address'},
  {cidr: '240.0.0.0/4', toggle: 'block_reserved', description: 'a reserved address'},
  {cidr: '255.255.255.255/32', toggle: 'block_reserved', description: 'the broadcast address'},
  // FR-WF-05, IPv6
  {cidr: '::1/128', toggle: 'block_loopback', description: 'the loopback address'},
  {cidr: '::/128', toggle: 'block_reserved', description: 'the unspecified address'},
  {cidr: 'fc00::/7', toggle: 'block_private_ips', description: 'a unique local address'},
  {cidr: 'fe80::/10', toggle: 'block_link_local', description: 'a link-local address'},
  {cidr: 'ff00::/8', toggle: 'block_reserved', description: 'a multicast address'},
  {cidr: '2001:db8::/32', toggle: 'block_reserved', description: 'a documentation address'},
  // Ruling A6, IPv4
  {cidr: '192.88.99.0/24', toggle: 'block_reserved', description: 'a 6to4 relay address'},
  {cidr: '198.18.0.0/15', toggle: 'block_reserved', description: 'a benchmarking address'},
  {cidr: '192.31.196.0/24', toggle: 'block_reserved', description: 'an AS112 address'},
  {cidr: '192.52.193.0/24', toggle: 'block_reserved', description: 'an AMT address'},
  {cidr: '192.175.48.0/24', toggle: 'block_reserved', description: 'an AS112 address'},
  {cidr: '168.63.129.16/32', toggle: 'block_reserved', description: 'the Azure platform address'},
  // Ruling A6, IPv6: nothing outside 2000::/3 …
  {cidr: '::/3', toggle: 'block_reserved', description: 'outside global unicast'},
  {cidr: '4000::/2', toggle: 'block_reserved', description: 'outside global unicast'},
  {cidr: '8000::/1', toggle: 'block_reserved', description: 'outside global unicast'},
  {cidr: '::/96', toggle: 'block_reserved', description: 'an IPv4-compatible address'},
  {cidr: '::ffff:0:0:0/96', toggle: 'block_reserved', description: 'an IPv4-translated address'},
  {cidr: '64:ff9b:1::/48', toggle: 'block_reserved', description: 'a local NAT64 address'},
  // … and inside it not these.
  {cidr: '2001::/23', toggle: 'block_reserved', description: 'an IETF protocol address'},
  {cidr: '2002::/16', toggle: 'block_reserved', description: 'a 6to4 address'},
  {cidr: '2620:4f:8000::/48', toggle: 'block_reserved', description: 'an AS112 address'},
  {cidr: '3fff::/20', toggle: 'block_reserved', description: 'a documentation address'},
];
