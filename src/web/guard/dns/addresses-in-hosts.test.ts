import {expect, test} from 'vitest';
import {addressesInHosts} from './addresses-in-hosts.ts';

test.each([
  ['10.0.0.1 a.test', ['10.0.0.1']],
  ['  10.0.0.1 \t a.test', ['10.0.0.1']],
  ['10.0.0.1 b.test  \ta.test # c.test', ['10.0.0.1']],
  ['10.0.0.1\tA.Test.', ['10.0.0.1']],
  ['::1 a.test\r\n10.0.0.1 a.test b.test', ['::1', '10.0.0.1']],
  ['fe80::1%eth0 a.test', ['fe80::1%eth0']],
  ['10.0.0.1 a.test.b', []],
  ['10.0.0.1 xa.test', []],
  ['10.0.0.1 b.test # a.test', []],
  ['#10.0.0.1 a.test', []],
  ['a.test', []],
  ['nowhere a.test', []],
  ['%eth0 a.test', []],
  ['', []],
])('ruling A5 the hosts file %j says of a.test: %j', (text, expected) => {
  expect(addressesInHosts(text, 'a.TEST')).toEqual(expected);
});
