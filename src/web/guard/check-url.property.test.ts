import {BlockList} from 'node:net';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {resolveConfig} from '../../config/resolve-config.ts';
import {parseUrl} from '../url.ts';
import {checkUrl} from './check-url.ts';
import {readGuardPolicy} from './policy.ts';

const resolved = resolveConfig({}, {env: {}, cwd: '/', tempDir: '/tmp'});
if (!resolved.ok) throw new Error(resolved.error.join());
const settings = readGuardPolicy(resolved.value.config.tools.webfetch.security);
if (!settings.ok) throw new Error(settings.error.join());
const {policy} = settings.value;

/** The platform's own arithmetic over the ranges of FR-WF-05 that no reading may miss. */
const forbidden = new BlockList();
for (const row of [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
])
  add(row, 'ipv4');
for (const row of ['192.168.0.0/16', '198.18.0.0/15', '224.0.0.0/4', '240.0.0.0/4']) add(row, 'ipv4');
for (const row of ['::/127', 'fc00::/7', 'fe80::/10', 'ff00::/8', '2001:db8::/32', '2002::/16'])
  add(row, 'ipv6');

function add(row: string, family: 'ipv4' | 'ipv6'): void {
  const [network = '', prefix] = row.split('/');
  forbidden.addSubnet(network, Number(prefix), family);
}

const nearby = fc.constantFrom('10', '127', '169', '172', '192', '198', '100', '0', '224', '255');
const address4 = fc
  .tuple(nearby, fc.ipV4())
  .map(([first, rest]) => [first, ...rest.split('.').slice(1)].join('.'));
const piece = fc.constantFrom(
  ...[
    'http',
    'https',
    'ftp',
    '://',
    ':',
    '/',
    '\\',
    '@',
    '?',
    '#',
    '%2e',
    '.',
    '127.0.0.1',
    '0x7f',
    '[::1]',
    '[',
    ']',
  ],
  ...[
    '[::ffff:10.0.0.1]',
    '[64:ff9b::a00:1]',
    'localhost',
    'example.com',
    '１',
    '。',
    '\t',
    '\n',
    ' ',
    ':80',
    'é',
    '017',
  ],
);

describe('properties of the URL guard', () => {
  test('FR-WF-05 no private address is let through, in IPv4, IPv6, mapped and translated form', () => {
    fc.assert(
      fc.property(fc.oneof(address4, fc.ipV4(), fc.ipV6()), address => {
        const isV6 = address.includes(':');
        const hosts = isV6 ? [`[${address}]`] : [address, `[::ffff:${address}]`, `[64:ff9b::${address}]`];
        for (const host of hosts) {
          const url = parseUrl(`http://${host}/`);
          if (!url.ok || !forbidden.check(address, isV6 ? 'ipv6' : 'ipv4')) continue;
          expect(checkUrl(url.value, policy, true)).toMatchObject({ok: false, error: {code: 'ssrf_blocked'}});
        }
      }),
      {numRuns: 3000, seed: 14},
    );
  });

  test('ruling A2 any text is a value, and what is accepted is what the platform reads, again and again', () => {
    let accepted = 0;
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string({maxLength: 3})), {maxLength: 8}), pieces => {
        const input = pieces.join('');
        const parsed = parseUrl(input);
        if (!parsed.ok) return;
        accepted += 1;
        const {canonical, host} = parsed.value;
        const platform = new URL(input);
        expect([platform.hostname, platform.username, platform.password]).toEqual([host, '', '']);
        const again = parseUrl(canonical);
        expect(again.ok && again.value.canonical).toBe(canonical);
        checkUrl(parsed.value, policy, true);
      }),
      {numRuns: 5000, seed: 15},
    );
    expect(accepted).toBeGreaterThan(0);
  });
});
