import {expect, test} from 'vitest';
import {parseResolvConf} from './parse-resolv-conf.ts';

const DEFAULTS = {search: [], ndots: 1, timeoutMs: 5000, attempts: 2};

test.each([
  ['', {}],
  ['search a.test b.test', {search: ['a.test', 'b.test']}],
  ['search \t a.test \t b.test\r', {search: ['a.test', 'b.test']}],
  ['search ..a.test.. . b.test.', {search: ['a.test', 'b.test']}],
  ['domain a.test b.test', {search: ['a.test']}],
  ['domain  a.test', {search: ['a.test']}],
  ['domain', {}],
  ['search a.test\nsearch b.test', {search: ['b.test']}],
  ['search a.test\ndomain b.test', {search: ['b.test']}],
  ['nosearch a.test', {}],
  ['options ndots:3 timeout:7 attempts:4', {ndots: 3, timeoutMs: 7000, attempts: 4}],
  ['options ndots:0 timeout:0 attempts:0', {ndots: 0, timeoutMs: 1000, attempts: 1}],
  ['options ndots:16 timeout:31 attempts:6', {ndots: 15, timeoutMs: 30_000, attempts: 5}],
  ['options xndots:3 ndots:3x ndots: ndots:-1 rotate', {}],
  ['# options ndots:3', {}],
  ['nameserver ndots:3', {}],
])('review B4 resolv.conf(5) %j', (text, expected) => {
  expect(parseResolvConf(text)).toEqual({...DEFAULTS, ...expected});
});
