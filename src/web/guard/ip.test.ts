import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {
  type BlockToggle,
  formatIp,
  parseIp,
  parseIpRange,
  rangeContains,
  reachedIp,
  SPECIAL_RANGES,
  sortAddresses,
} from './ip.ts';

/** The canonical text; undefined for what is no address. */
function canonical(text: string): string | undefined {
  const address = parseIp(text);
  return address === undefined ? undefined : formatIp(address);
}

test.each([
  ['1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7:8'],
  ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
  ['::2:3:4:5:6:7:8', '0:2:3:4:5:6:7:8'],
  ['1:0:0:4:5:6:7:8', '1::4:5:6:7:8'],
  ['1:0:3:4:5:6:0:0', '1:0:3:4:5:6::'],
  ['1:0:0:4:5:0:0:8', '1::4:5:0:0:8'],
  ['1:0:0:4:0:0:0:8', '1:0:0:4::8'],
  ['1:0:0:0:5:0:0:8', '1::5:0:0:8'],
  ['0:0:0:0:0:0:0:0', '::'],
  ['2001:0DB8::00FF', '2001:db8::ff'],
  ['0000:0000:0000:0000:0000:ffff:255.255.255.255', '::ffff:ffff:ffff'],
  ['1:2:3:4:5:6:1.2.3.4', '1:2:3:4:5:6:102:304'],
  ['::1.2.3.4', '::102:304'],
  ['255.255.255.255', '255.255.255.255'],
  ['0.0.0.0', '0.0.0.0'],
])('RFC 5952 %s is written %s', (text, expected) => {
  expect(canonical(text)).toBe(expected);
});

test('property: IPv6 text is what WHATWG prints', () => {
  const group = fc.oneof(fc.constant(0), fc.integer({min: 0, max: 0xffff}));
  fc.assert(
    fc.property(fc.array(group, {minLength: 8, maxLength: 8}), groups => {
      const text = groups.map(value => value.toString(16)).join(':');
      expect(`[${canonical(text)}]`).toBe(new URL(`http://[${text}]/`).hostname);
    }),
    {numRuns: 500},
  );
});

test.each([
  '256.0.0.0',
  '0.0.0.256',
  '00.0.0.0',
  '1.2.3',
  '1.2.3.4.5',
  '1.2.3.4::',
  '1.2.3.4::1',
  '::1.2.3.4:5',
  '1.2.3.4:5:6:7:8:9:a',
  '1:2:3:4:5:6:7:1.2.3.4',
  '1:2:3:4:5:6:7:8::',
  '::1::',
  '12345::',
])('%s is no address', text => {
  expect(parseIp(text)).toBeUndefined();
});

test.each([
  ['64:ff9b::a9fe:a9fe', '169.254.169.254'],
  ['64:ff9b::', '0.0.0.0'],
  ['::ffff:127.0.0.1', '127.0.0.1'],
  // One bit beside each of the words that make the prefix.
  ['64:ff9a::a9fe:a9fe', '64:ff9a::a9fe:a9fe'],
  ['64:ff9b:0:1::a9fe:a9fe', '64:ff9b:0:1::a9fe:a9fe'],
  ['64:ff9b::1:a9fe:a9fe', '64:ff9b::1:a9fe:a9fe'],
  ['::a9fe:a9fe', '::a9fe:a9fe'],
  ['169.254.169.254', '169.254.169.254'],
])('FR-WF-05a %s leads to %s', (written, expected) => {
  const address = parseIp(written);
  expect(address && formatIp(reachedIp(address))).toBe(expected);
});

test.each([
  ['IPv6 before IPv4', ['8.8.8.8', '2000::1'], ['2000::1', '8.8.8.8']],
  ['by the first word', ['9.0.0.0', '8.255.255.255'], ['8.255.255.255', '9.0.0.0']],
  ['as numbers, not as signed ones or as text', ['200.0.0.1', '30.0.0.1'], ['30.0.0.1', '200.0.0.1']],
  ['by a later word', ['2000::2:0:0', '2000::1:0:1'], ['2000::1:0:1', '2000::2:0:0']],
  ['by the last word', ['2000::2', '2000::1', '2000::3'], ['2000::1', '2000::2', '2000::3']],
  ['one of each, as RFC 5952 writes it', ['2000:0:0::1', '2000::1', '2000::0001'], ['2000::1']],
  ['what is mapped is IPv4', ['::ffff:8.8.8.8', '8.8.4.4', '8.8.8.8'], ['8.8.4.4', '8.8.8.8']],
  ['what is no address is left out', ['x', '8.8.8.8', '1.2.3', ''], ['8.8.8.8']],
  ['none', [], []],
])('FR-WF-DNS-01 %s', (_, addresses, expected) => {
  expect(sortAddresses(addresses)).toEqual(expected);
});

/** The most specific row that holds the address: the one that speaks for it (ruling A6). */
function rowOf(text: string) {
  const address = parseIp(text);
  if (address === undefined) throw new Error(`Expected an address, got "${text}"`);
  return SPECIAL_RANGES.flatMap(row => {
    const range = parseIpRange(row.cidr);
    return range !== undefined && rangeContains(range, address) ? [{...row, bits: range.bits}] : [];
  }).sort((a, b) => b.bits - a.bits)[0];
}

// An address with its last bits set, so that only the row's own length can tell.
test.each<[string, string, BlockToggle, string]>([
  ['127.255.255.254', '127.0.0.0/8', 'block_loopback', 'a loopback address'],
  ['10.255.255.255', '10.0.0.0/8', 'block_private_ips', 'a private address'],
  ['172.31.255.255', '172.16.0.0/12', 'block_private_ips', 'a private address'],
  ['192.168.255.255', '192.168.0.0/16', 'block_private_ips', 'a private address'],
  ['169.254.169.254', '169.254.0.0/16', 'block_link_local', 'a link-local address'],
  ['0.255.255.255', '0.0.0.0/8', 'block_reserved', 'an address of "this network"'],
  ['100.127.255.255', '100.64.0.0/10', 'block_reserved', 'a carrier-grade NAT address'],
  ['192.0.0.255', '192.0.0.0/24', 'block_reserved', 'an IETF protocol address'],
  ['192.0.2.255', '192.0.2.0/24', 'block_reserved', 'a documentation address'],
  ['198.51.100.255', '198.51.100.0/24', 'block_reserved', 'a documentation address'],
  ['203.0.113.255', '203.0.113.0/24', 'block_reserved', 'a documentation address'],
  ['239.255.255.255', '224.0.0.0/4', 'block_reserved', 'a multicast address'],
  ['255.255.255.254', '240.0.0.0/4', 'block_reserved', 'a reserved address'],
  ['255.255.255.255', '255.255.255.255/32', 'block_reserved', 'the broadcast address'],
  ['192.88.99.255', '192.88.99.0/24', 'block_reserved', 'a 6to4 relay address'],
  ['198.19.255.255', '198.18.0.0/15', 'block_reserved', 'a benchmarking address'],
  ['192.31.196.255', '192.31.196.0/24', 'block_reserved', 'an AS112 address'],
  ['192.52.193.255', '192.52.193.0/24', 'block_reserved', 'an AMT address'],
  ['192.175.48.255', '192.175.48.0/24', 'block_reserved', 'an AS112 address'],
  ['168.63.129.16', '168.63.129.16/32', 'block_reserved', 'the Azure platform address'],
  ['::1', '::1/128', 'block_loopback', 'the loopback address'],
  ['::', '::/128', 'block_reserved', 'the unspecified address'],
  ['fdff:ffff::ffff', 'fc00::/7', 'block_private_ips', 'a unique local address'],
  ['febf:ffff::ffff', 'fe80::/10', 'block_link_local', 'a link-local address'],
  ['ffff:ffff::ffff', 'ff00::/8', 'block_reserved', 'a multicast address'],
  ['2001:db8:ffff::ffff', '2001:db8::/32', 'block_reserved', 'a documentation address'],
  ['1fff:ffff::ffff', '::/3', 'block_reserved', 'outside global unicast'],
  ['7fff:ffff::ffff', '4000::/2', 'block_reserved', 'outside global unicast'],
  ['bfff:ffff::ffff', '8000::/1', 'block_reserved', 'outside global unicast'],
  ['::ffff:ffff', '::/96', 'block_reserved', 'an IPv4-compatible address'],
  ['::ffff:0:ffff:ffff', '::ffff:0:0:0/96', 'block_reserved', 'an IPv4-translated address'],
  ['64:ff9b:1:ffff::ffff', '64:ff9b:1::/48', 'block_reserved', 'a local NAT64 address'],
  ['2001:1ff:ffff::ffff', '2001::/23', 'block_reserved', 'an IETF protocol address'],
  ['2002:ffff::ffff', '2002::/16', 'block_reserved', 'a 6to4 address'],
  ['2620:4f:8000:ffff::ffff', '2620:4f:8000::/48', 'block_reserved', 'an AS112 address'],
  ['3fff:fff:ffff::ffff', '3fff::/20', 'block_reserved', 'a documentation address'],
])('FR-WF-05, A6 %s lies in %s', (address, cidr, toggle, description) => {
  expect(rowOf(address)).toMatchObject({cidr, toggle, description});
});

test.each([
  '8.8.8.8',
  '126.255.255.255',
  '128.0.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2000::',
  '2001:200::',
  '2003::',
  '3fff:1000::',
])('FR-WF-05, A6 %s lies in none', address => {
  expect(rowOf(address)).toBeUndefined();
});

function contains(cidr: string, text: string): boolean {
  const [range, address] = [parseIpRange(cidr), parseIp(text)];
  if (range === undefined || address === undefined) throw new Error(`Expected a range and an address`);
  return rangeContains(range, address);
}

describe('FR-WF-05g a range as it is written', () => {
  test.each([
    ['10.20.30.40/16', {family: 4, cidr: '10.20.0.0/16', bits: 16}],
    ['10.20.30.40/0', {family: 4, cidr: '0.0.0.0/0', bits: 0}],
    ['10.20.30.40/32', {family: 4, cidr: '10.20.30.40/32', bits: 32}],
    [' 10.20.30.40/8\n', {family: 4, cidr: '10.0.0.0/8', bits: 8}],
    ['2001:db8:1:2::3/33', {family: 6, cidr: '2001:db8::/33', bits: 33}],
    ['2001:db8:ffff::/33', {family: 6, cidr: '2001:db8:8000::/33', bits: 33}],
    ['ffff::ffff/128', {family: 6, cidr: 'ffff::ffff/128', bits: 128}],
    ['ffff::/0', {family: 6, cidr: '::/0', bits: 0}],
    // Mapped addresses are checked as the IPv4 addresses that they stand for.
    ['::ffff:10.1.2.3/96', {family: 4, cidr: '0.0.0.0/0', bits: 0}],
    ['::ffff:10.1.2.3/120', {family: 4, cidr: '10.1.2.0/24', bits: 24}],
    ['::ffff:10.1.2.3/128', {family: 4, cidr: '10.1.2.3/32', bits: 32}],
    // What only looks like one of them is not.
    ['1::ffff:10.1.2.3/120', {family: 6, cidr: '1::ffff:a01:200/120', bits: 120}],
    ['0:0:0:1:0:ffff:10.1.2.3/120', {family: 6, cidr: '::1:0:ffff:a01:200/120', bits: 120}],
    ['::fffe:10.1.2.3/120', {family: 6, cidr: '::fffe:a01:200/120', bits: 120}],
    ['::ffff:10.1.2.3/95', {family: 6, cidr: '::fffe:0:0/95', bits: 95}],
  ])('%j', (text, expected) => {
    expect(parseIpRange(text)).toMatchObject(expected);
  });

  test.each([
    '10.0.0.0',
    '10.0.0.0/33',
    '10.0.0.0/1000',
    '10.0.0.0/08',
    '10.0.0.0/+8',
    '10.0.0.0/8x',
    '10.0.0.0/x8',
    '10.0.0.0/ 8',
    '10.0.0.0/8/8',
    '::/129',
    '/8',
    '256.0.0.0/8',
  ])('%j is no range', text => {
    expect(parseIpRange(text)).toBeUndefined();
  });
});

test.each([
  ['10.20.0.0/15', '10.20.0.0', true],
  ['10.20.0.0/15', '10.21.255.255', true],
  ['10.20.0.0/15', '10.22.0.0', false],
  ['10.20.0.0/15', '10.19.255.255', false],
  ['128.0.0.0/1', '255.255.255.255', true],
  ['128.0.0.0/1', '127.255.255.255', false],
  ['0.0.0.0/0', '255.255.255.255', true],
  ['0.0.0.0/0', '::', false],
  ['::/0', '0.0.0.0', false],
  ['::/0', 'ffff::ffff', true],
  ['2001:db8:8000::/33', '2001:db8:ffff:ffff::', true],
  ['2001:db8:8000::/33', '2001:db8:7fff:ffff::', false],
  ['2001:db8:8000::/33', '2001:db9:8000::', false],
  ['1:2:3:4:5:6:7:8/128', '1:2:3:4:5:6:7:8', true],
  ['1:2:3:4:5:6:7:8/128', '1:2:3:4:5:6:7:9', false],
])('FR-WF-05g %s with %s: %s', (cidr, address, expected) => {
  expect(contains(cidr, address)).toBe(expected);
});
