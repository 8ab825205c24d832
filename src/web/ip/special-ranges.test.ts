import {expect, test} from 'vitest';
import {parseIp, parseIpRange, rangeContains} from './ip-address.ts';
import {type BlockToggle, SPECIAL_RANGES} from './special-ranges.ts';

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
