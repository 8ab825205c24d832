import {expect, test} from 'vitest';
import {parseIpRange} from '../ip/ip-address.ts';
import {SPECIAL_RANGES} from '../ip/special-ranges.ts';
import {describeOpening, readOpenings} from './openings.ts';

const SPECIAL = SPECIAL_RANGES.flatMap(row => {
  const range = parseIpRange(row.cidr);
  return range === undefined ? [] : [{...row, range}];
});

const read = (host: string, cidr = '10.0.0.0/8', ports: readonly number[] = [80]) =>
  readOpenings([{host, cidr, ports: [...ports]}], SPECIAL);

test.each([
  ['Wiki.Test.', '10.0.0.0/8', [80], 'wiki.test:80 in 10.0.0.0/8'],
  ['b\u00fccher.test', '10.1.0.0/16', [1], 'xn--bcher-kva.test:1 in 10.1.0.0/16'],
  ['10.1.2.3', '10.1.2.0/24', [65_535], '10.1.2.3:65535 in 10.1.2.0/24'],
  ['[FD00::1]', 'fd00::/8', [443], '[fd00::1]:443 in fd00::/8'],
  ['fd00::1', 'fc00::/7', [443], '[fd00::1]:443 in fc00::/7'],
  ['cast.test', '240.1.0.0/16', [80], 'cast.test:80 in 240.1.0.0/16'],
])('policy: %s in %s is one host', (host, cidr, ports, expected) => {
  const {openings, problems} = read(host, cidr, ports);
  expect(problems).toEqual([]);
  expect(openings.map(describeOpening)).toEqual([expected]);
});

test.each(['*.test', 'a/b', 'a?b', 'a#b', 'u@a', 'a b', 'a:80', '[fd00::1]:80', '[fd00::1]:81', '', 'a\\b'])(
  'policy: %j is no host',
  host => {
    const {openings, problems} = read(host);
    expect(openings).toEqual([]);
    expect(problems).toEqual([
      `Expected tools.webfetch.allow_private[0].host to be one host, such as "wiki.example.com" or "10.1.2.3", got "${host}".`,
    ]);
  },
);

test.each([
  ['x', [80], 'cidr to be a CIDR range'],
  ['8.8.8.0/24', [80], 'cidr to be part of one range that is blocked'],
  ['10.0.0.0/7', [80], 'cidr to be part of one range that is blocked'],
  ['4000::/16', [80], 'cidr to be part of one range that is blocked'],
  ['10.0.0.0/8', [], 'ports to be a list of at least one port, got ""'],
  ['10.0.0.0/8', [0], 'ports to be a list of integers from 1 to 65535, got "0"'],
  ['10.0.0.0/8', [80, 65_536], 'ports to be a list of integers from 1 to 65535, got "65536"'],
  ['10.0.0.0/8', [1.5], 'ports to be a list of integers from 1 to 65535, got "1.5"'],
])('policy: %s on %j is refused', (cidr, ports, expected) => {
  expect(read('wiki.test', cidr, ports).problems).toEqual([expect.stringContaining(`[0].${expected}`)]);
});

test('policy: a host with a range that cannot be read is opened nowhere', () => {
  for (const host of ['wiki.test', '10.1.2.3']) expect(read(host, 'x').openings).toEqual([]);
});

test('policy: an address has to lie in its range, and ranges of one host and port are together', () => {
  expect(read('10.1.2.3', '10.2.0.0/16').problems).toEqual([
    expect.stringContaining('[0].cidr to be a range that holds 10.1.2.3'),
  ]);
  const entries = ['10.0.0.0/8', '192.168.0.0/16'].map(cidr => ({host: 'a.test', cidr, ports: [80, 81]}));
  expect(readOpenings(entries, SPECIAL).openings.map(describeOpening)).toEqual([
    'a.test:80 in 10.0.0.0/8, 192.168.0.0/16',
    'a.test:81 in 10.0.0.0/8, 192.168.0.0/16',
  ]);
});
