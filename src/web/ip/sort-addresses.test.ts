import {expect, test} from 'vitest';
import {sortAddresses} from './sort-addresses.ts';

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
