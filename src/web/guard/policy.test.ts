import {describe, expect, test} from 'vitest';
import {parseUrl} from '../url.ts';
import {checkUrl} from './check-url.ts';
import {BLOCK_TOGGLES, parseIpRange, SPECIAL_RANGES} from './ip.ts';
import {
  checkPortSetting,
  describeOpening,
  type GuardPolicy,
  readGuardPolicy,
  readOpenings,
} from './policy.ts';

type Security = Parameters<typeof readGuardPolicy>[0];

const DEFAULTS: Security = {
  block_private_ips: true,
  block_loopback: true,
  block_link_local: true,
  block_reserved: true,
  allowed_ports: [80, 443],
  additional_blocked_cidrs: [],
  max_dns_attempts: 2,
  allow_insecure_overrides: false,
};

function policyOf(changes: Partial<Security>): GuardPolicy {
  const read = readGuardPolicy({...DEFAULTS, ...changes});
  if (!read.ok) throw new Error(read.error.join('\n'));
  return read.value.policy;
}

function check(url: string, changes: Partial<Security> = {}) {
  const parsed = parseUrl(url);
  if (!parsed.ok) throw new Error(parsed.error.message);
  const result = checkUrl(parsed.value, policyOf(changes), true);
  return result.ok ? 'accepted' : {code: result.error.code, ...result.error.details};
}

describe('insecure overrides', () => {
  test('T-WF-SSRF-11 a disabled block without allow_insecure_overrides refuses to start', () => {
    expect(readGuardPolicy({...DEFAULTS, block_private_ips: false})).toEqual({
      ok: false,
      error: [
        'SSRF protection cannot be disabled without allow_insecure_overrides=true\n' +
          'Affected settings: block_private_ips=false',
      ],
    });
  });

  test('T-WF-SSRF-11 every disabled block is named', () => {
    const off = {
      block_private_ips: false,
      block_loopback: false,
      block_link_local: false,
      block_reserved: false,
    };
    expect(readGuardPolicy({...DEFAULTS, ...off})).toMatchObject({
      error: [
        expect.stringMatching(
          /Affected settings: block_private_ips=false, block_loopback=false, block_link_local=false, block_reserved=false$/,
        ),
      ],
    });
    expect(readGuardPolicy({...DEFAULTS, ...off, allow_insecure_overrides: true})).toMatchObject({
      ok: true,
      value: {
        warnings: [
          'SSRF protection disabled for: block_private_ips, block_loopback, block_link_local, block_reserved',
        ],
      },
    });
  });

  test('T-WF-SSRF-11 allow_insecure_overrides alone changes nothing', () => {
    const read = readGuardPolicy({...DEFAULTS, allow_insecure_overrides: true});
    expect(read).toMatchObject({ok: true, value: {warnings: []}});
    expect(check('http://10.0.0.1/', {allow_insecure_overrides: true})).toMatchObject({code: 'ssrf_blocked'});
  });
});

describe('FR-WF-05g additional_blocked_cidrs', () => {
  test.each([
    '10.0.0.0',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/08',
    '10.0.0.0/-1',
    '010.0.0.0/8',
    '10.0.0/8',
    '::/129',
    ':::/8',
    'fe80::1%eth0/64',
    'example.com/8',
    '',
    '10.0.0.0/8/8',
  ])('%j refuses to start', entry => {
    const read = readGuardPolicy({...DEFAULTS, additional_blocked_cidrs: ['8.8.8.0/24', entry]});
    expect(read).toEqual({
      ok: false,
      error: [
        `tools.webfetch.security.additional_blocked_cidrs contains "${entry}", which is no CIDR range\n` +
          'Write an address and a prefix length, such as 10.20.0.0/16 or 2001:db8::/32',
      ],
    });
  });

  test('blanks around an entry do not matter, and host bits are cleared', () => {
    const {additional} = policyOf({additional_blocked_cidrs: [' 8.8.8.8/24\n', '::ffff:8.8.8.8/96']});
    expect(additional.map(({cidr}) => cidr)).toEqual(['8.8.8.0/24', '0.0.0.0/0']);
    expect(policyOf({}).additional).toEqual([]);
  });

  test('a range wider than the mapped addresses, or beside them, is a range of IPv6', () => {
    const cidrs = [
      '::ffff:0:0/95',
      '1::ffff:8.8.8.8/120',
      '0:0:0:1:0:ffff:8.8.8.8/120',
      '::fffe:8.8.8.8/120',
    ];
    const {additional} = policyOf({additional_blocked_cidrs: cidrs});
    expect(additional.map(({family, cidr}) => `${family} ${cidr}`)).toEqual([
      '6 ::fffe:0:0/95',
      '6 1::ffff:808:800/120',
      '6 ::1:0:ffff:808:800/120',
      '6 ::fffe:808:800/120',
    ]);
  });

  test('both kinds of problem are reported together', () => {
    const read = readGuardPolicy({...DEFAULTS, block_loopback: false, additional_blocked_cidrs: ['x', 'y']});
    expect(read.ok ? 0 : read.error.length).toBe(3);
  });

  test('always blocks, in every embedding, and no toggle is named', () => {
    const off = {
      block_private_ips: false,
      block_reserved: false,
      allow_insecure_overrides: true,
      additional_blocked_cidrs: ['8.8.8.8/24', '2606:4700::/32', '::ffff:9.9.9.0/120', '10.0.0.0/8'],
    };
    const blocked = (blocked_ip: string, cidr: string) => ({code: 'ssrf_blocked', blocked_ip, cidr});
    expect(check('http://8.8.8.255/', off)).toEqual(blocked('8.8.8.255', '8.8.8.0/24'));
    expect(check('http://8.8.9.0/', off)).toBe('accepted');
    expect(check('http://[::ffff:8.8.8.8]/', off)).toEqual(blocked('8.8.8.8', '8.8.8.0/24'));
    expect(check('http://[64:ff9b::808:808]/', off)).toEqual(blocked('8.8.8.8', '8.8.8.0/24'));
    expect(check('http://[2606:4700::1111]/', off)).toEqual(blocked('2606:4700::1111', '2606:4700::/32'));
    expect(check('http://9.9.9.9/', off)).toEqual(blocked('9.9.9.9', '9.9.9.0/24'));
    expect(check('http://[::ffff:9.9.9.9]/', off)).toEqual(blocked('9.9.9.9', '9.9.9.0/24'));
    expect(check('http://10.1.1.1/', off)).toEqual(blocked('10.1.1.1', '10.0.0.0/8'));
  });

  test('the message says that an operator lists it', () => {
    const url = parseUrl('http://8.8.8.8/');
    expect(
      url.ok && checkUrl(url.value, policyOf({additional_blocked_cidrs: ['8.8.8.0/24']}), true),
    ).toMatchObject({
      error: {
        message:
          '8.8.8.8 is an address that additional_blocked_cidrs lists (8.8.8.0/24). Use a public address.',
      },
    });
  });

  test('ruling A6 where a built-in row says the same, that row is reported', () => {
    const details = check('http://10.1.1.1/', {additional_blocked_cidrs: ['10.1.0.0/16']});
    expect(details).toMatchObject({cidr: '10.0.0.0/8', toggle: 'block_private_ips'});
  });

  test('a range of IPv6 does not block IPv4, but does block mapped addresses', () => {
    const all = {additional_blocked_cidrs: ['::/0']};
    expect(check('http://8.8.8.8/', all)).toBe('accepted');
    expect(check('http://[::ffff:8.8.8.8]/', all)).toMatchObject({
      blocked_ip: '::ffff:808:808',
      cidr: '::/0',
    });
  });
});

describe('ports', () => {
  test.each([
    'http://example.com:8080/',
    'https://example.com:22/',
    'http://example.com:0/',
    'http://127.0.0.1:81/',
  ])('T-WF-SSRF-07 rejects %s, before its address is checked', url => {
    const port = Number(new URL(url).port);
    expect(check(url)).toEqual({code: 'port_blocked', port, allowed_ports: [80, 443]});
  });

  test('T-WF-SSRF-07 the refusal says which port, and which are allowed', () => {
    const url = parseUrl('http://example.com:8080/?secret');
    expect(url.ok && checkUrl(url.value, policyOf({}), true)).toMatchObject({
      error: {
        message: 'Port 8080 is not allowed. Use one of 80, 443.',
      },
    });
  });

  test('T-WF-SSRF-07 default ports are allowed, written or not, on either scheme', () => {
    for (const url of [
      'http://a.example/',
      'https://a.example/',
      'http://a.example:443/',
      'https://a.example:80/',
    ]) {
      expect(check(url)).toBe('accepted');
    }
  });

  test('T-WF-SSRF-08 accepts configured ports, and only those (FR-WF-PORT-01)', () => {
    expect(check('http://a.example:8080/', {allowed_ports: [8080]})).toBe('accepted');
    expect(check('http://a.example/', {allowed_ports: [8080]})).toEqual({
      code: 'port_blocked',
      port: 80,
      allowed_ports: [8080],
    });
    expect(check('http://a.example/', {allowed_ports: []})).toBe('accepted');
  });

  test('ruling A9 an impossible entry is bad_args at every invocation, not at start-up', () => {
    expect(checkPortSetting(policyOf({allowed_ports: [1, 65_535]}))).toEqual({ok: true, value: undefined});
    for (const wrong of [0, -1, 65_536, 1.5]) {
      expect(checkPortSetting(policyOf({allowed_ports: [80, wrong]}))).toMatchObject({
        error: {
          code: 'bad_args',
          message: `tools.webfetch.security.allowed_ports contains ${wrong}. List integers from 1 to 65535.`,
          retryable: false,
          details: {field: 'tools.webfetch.security.allowed_ports', reason: `not a port: ${wrong}`},
        },
      });
    }
    expect(checkPortSetting(policyOf({allowed_ports: [0, 80, 70_000]}))).toMatchObject({
      error: {details: {reason: 'not a port: 0, 70000'}},
    });
  });
});

test('every row of FR-WF-05 and ruling A6 is a canonical range of its own', () => {
  const compiled = policyOf({}).special;
  expect(compiled.map(row => row.range.cidr)).toEqual(compiled.map(row => row.cidr));
  expect(new Set(compiled.map(row => row.cidr)).size).toBe(SPECIAL_RANGES.length);
  expect(new Set(SPECIAL_RANGES.map(row => row.toggle))).toEqual(new Set(BLOCK_TOGGLES));
  // Each completes "10.0.0.7 is …".
  for (const {description} of SPECIAL_RANGES) expect(description).toMatch(/^(?:an?|the|outside) \w/);
});

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
