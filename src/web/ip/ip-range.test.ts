import {describe, expect, test} from 'vitest';
import {parseIp, parseIpRange, rangeContains} from './ip-address.ts';

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
