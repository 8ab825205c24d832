import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {parseUrl} from '../url.ts';
import {checkUrl, classifyAddress} from './check-url.ts';
import {BLOCK_TOGGLES, type BlockToggle} from './ip.ts';
import {type GuardPolicy, readGuardPolicy} from './policy.ts';

/** FR-WF-05 and ruling A6 once more, from the documents: the table under test is not its own check. */
const TABLE: readonly (readonly [cidr: string, toggle: BlockToggle])[] = [
  ['127.0.0.0/8', 'block_loopback'],
  ['10.0.0.0/8', 'block_private_ips'],
  ['172.16.0.0/12', 'block_private_ips'],
  ['192.168.0.0/16', 'block_private_ips'],
  ['169.254.0.0/16', 'block_link_local'],
  ['0.0.0.0/8', 'block_reserved'],
  ['100.64.0.0/10', 'block_reserved'],
  ['192.0.0.0/24', 'block_reserved'],
  ['192.0.2.0/24', 'block_reserved'],
  ['198.51.100.0/24', 'block_reserved'],
  ['203.0.113.0/24', 'block_reserved'],
  ['224.0.0.0/4', 'block_reserved'],
  ['240.0.0.0/4', 'block_reserved'],
  ['255.255.255.255/32', 'block_reserved'],
  ['192.88.99.0/24', 'block_reserved'],
  ['198.18.0.0/15', 'block_reserved'],
  ['192.31.196.0/24', 'block_reserved'],
  ['192.52.193.0/24', 'block_reserved'],
  ['192.175.48.0/24', 'block_reserved'],
  ['168.63.129.16/32', 'block_reserved'],
  ['::1/128', 'block_loopback'],
  ['::/128', 'block_reserved'],
  ['fc00::/7', 'block_private_ips'],
  ['fe80::/10', 'block_link_local'],
  ['ff00::/8', 'block_reserved'],
  ['2001:db8::/32', 'block_reserved'],
  ['2001::/23', 'block_reserved'],
  ['2002::/16', 'block_reserved'],
  ['2620:4f:8000::/48', 'block_reserved'],
  ['3fff::/20', 'block_reserved'],
  ['64:ff9b:1::/48', 'block_reserved'],
  ['::/96', 'block_reserved'],
  ['::ffff:0:0:0/96', 'block_reserved'],
];
const GLOBAL_UNICAST = ['2000::/3', 'block_reserved'] as const;
const EMBEDDINGS = ['::ffff:0:0/96', '64:ff9b::/96'].map(cidr => bigRange(cidr));

interface BigRange {
  readonly width: 32 | 128;
  readonly first: bigint;
  readonly last: bigint;
}

function bigAddress(text: string): bigint {
  if (!text.includes(':')) return text.split('.').reduce((sum, octet) => sum * 256n + BigInt(octet), 0n);
  const [head = '', tail] = text.split('::');
  const groups = (part: string): string[] => (part === '' ? [] : part.split(':'));
  const after = groups(tail ?? '');
  const before = groups(head);
  const zeros = new Array<string>(8 - before.length - after.length).fill('0');
  return [...before, ...zeros, ...after].reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n);
}

function bigRange(cidr: string): BigRange {
  const [address = '', bits = ''] = cidr.split('/');
  const width = address.includes(':') ? 128 : 32;
  const first = bigAddress(address);
  return {width, first, last: first + (1n << BigInt(width - Number(bits))) - 1n};
}

function text(value: bigint, width: 32 | 128): string {
  const size = width === 32 ? 8n : 16n;
  const count = width === 32 ? 4 : 8;
  const parts = Array.from(
    {length: count},
    (_, at) => (value >> (size * BigInt(count - 1 - at))) & ((1n << size) - 1n),
  );
  return parts.map(part => part.toString(width === 32 ? 10 : 16)).join(width === 32 ? '.' : ':');
}

/** The decision by the documents: the toggle that blocks, or undefined. */
function expected(value: bigint, width: 32 | 128): BlockToggle | undefined {
  if (width === 128) {
    const inside = EMBEDDINGS.find(range => value >= range.first && value <= range.last);
    if (inside !== undefined) return expected(value - inside.first, 32);
  }
  const rows = TABLE.map(([cidr, toggle]) => ({toggle, ...bigRange(cidr)}))
    .filter(row => row.width === width && value >= row.first && value <= row.last)
    .sort((a, b) => (a.last - a.first < b.last - b.first ? -1 : 1));
  const global = bigRange(GLOBAL_UNICAST[0]);
  const outside = width === 128 && (value < global.first || value > global.last);
  return rows[0]?.toggle ?? (outside ? GLOBAL_UNICAST[1] : undefined);
}

function policyWithout(off: readonly BlockToggle[], additional: readonly string[] = []): GuardPolicy {
  const read = readGuardPolicy({
    block_private_ips: !off.includes('block_private_ips'),
    block_loopback: !off.includes('block_loopback'),
    block_link_local: !off.includes('block_link_local'),
    block_reserved: !off.includes('block_reserved'),
    allowed_ports: [],
    additional_blocked_cidrs: additional,
    max_dns_attempts: 2,
    allow_insecure_overrides: true,
  });
  if (!read.ok) throw new Error(read.error.join('\n'));
  return read.value.policy;
}

const DEFAULT = policyWithout([]);
const POLICIES = new Map(BLOCK_TOGGLES.map(toggle => [toggle, policyWithout([toggle])]));

function check(url: string, policy = DEFAULT) {
  const parsed = parseUrl(url);
  if (!parsed.ok) throw new Error(parsed.error.message);
  const result = checkUrl(parsed.value, policy, true);
  return result.ok ? 'accepted' : {code: result.error.code, ...result.error.details};
}

describe('boundaries', () => {
  const v4Rows = TABLE.filter(([cidr]) => !cidr.includes(':'));
  const cases = [
    ...TABLE,
    GLOBAL_UNICAST,
    ['64:ff9b::/96', 'block_reserved'] as const,
    ['::ffff:0:0/96', 'block_reserved'] as const,
  ];

  test.each(cases)('FR-WF-05 %s: first and last address, and those beside them', cidr => {
    const {width, first, last} = bigRange(cidr);
    const max = (1n << BigInt(width)) - 1n;
    for (const value of [first - 1n, first, first + 1n, last - 1n, last, last + 1n]) {
      if (value < 0n || value > max) continue;
      const address = text(value, width);
      const blocked = classifyAddress(address, DEFAULT);
      expect([address, blocked?.toggle]).toEqual([address, expected(value, width)]);
      // What a toggle switches off is exactly its rows.
      for (const [toggle, policy] of POLICIES) {
        const stays = blocked !== undefined && blocked.toggle !== toggle;
        expect([address, toggle, classifyAddress(address, policy) !== undefined]).toEqual([
          address,
          toggle,
          stays,
        ]);
      }
    }
  });

  test.each(v4Rows)('FR-WF-05a %s: the same inside IPv4-mapped and NAT64 addresses', (cidr, toggle) => {
    const {first, last} = bigRange(cidr);
    for (const embedding of EMBEDDINGS) {
      for (const value of [first - 1n, first, last, last + 1n]) {
        if (value < 0n || value > 0xffff_ffffn) continue;
        const plain = classifyAddress(text(value, 32), DEFAULT);
        expect(classifyAddress(text(embedding.first + value, 128), DEFAULT)).toEqual(plain);
      }
      const inside = classifyAddress(text(embedding.first + first, 128), DEFAULT);
      expect(inside).toMatchObject({blocked_ip: text(first, 32), toggle});
    }
  });

  test('property: agrees with the documents on any address, near a prefix or not', {tags: 'slow'}, () => {
    const bases = [...TABLE.map(([cidr]) => bigRange(cidr)), ...EMBEDDINGS];
    const near = fc
      .tuple(fc.constantFrom(...bases), fc.bigInt({min: -300n, max: 300n}), fc.boolean())
      .map(([range, step, end]) => ({width: range.width, value: (end ? range.last : range.first) + step}));
    const v4 = fc.bigInt({min: 0n, max: 0xffff_ffffn}).map(value => ({width: 32 as const, value}));
    const v6 = fc.bigInt({min: 0n, max: (1n << 128n) - 1n}).map(value => ({width: 128 as const, value}));
    fc.assert(
      fc.property(fc.oneof(near, v4, v6), ({width, value}) => {
        if (value < 0n || value >= 1n << BigInt(width)) return;
        expect(classifyAddress(text(value, width), DEFAULT)?.toggle).toBe(expected(value, width));
      }),
      {numRuns: 5000},
    );
  });
});

describe('URLs', () => {
  test.each([
    ['http://localhost/', '127.0.0.1', '127.0.0.0/8'],
    ['http://LOCALHOST/', '127.0.0.1', '127.0.0.0/8'],
    ['http://localhost./', '127.0.0.1', '127.0.0.0/8'],
    ['http://a.b.localhost/', '127.0.0.1', '127.0.0.0/8'],
    ['http://ｌocalhost/', '127.0.0.1', '127.0.0.0/8'],
    ['http://localhost../', '127.0.0.1', '127.0.0.0/8'],
    ['http://127.0.0.1/', '127.0.0.1', '127.0.0.0/8'],
    ['http://127.255.255.254/', '127.255.255.254', '127.0.0.0/8'],
    ['http://[::1]/', '::1', '::1/128'],
    ['http://[0:0:0:0:0:0:0:1]/', '::1', '::1/128'],
    ['http://[::ffff:127.0.0.1]/', '127.0.0.1', '127.0.0.0/8'],
  ])('T-WF-SSRF-02 rejects %s', (url, blocked_ip, cidr) => {
    expect(check(url)).toMatchObject({code: 'ssrf_blocked', blocked_ip, cidr, toggle: 'block_loopback'});
  });

  test('T-WF-SSRF-02 names that only look like localhost are left to the resolver', () => {
    for (const host of ['localhost.example', 'notlocalhost', 'localhost1', 'local']) {
      expect(check(`http://${host}/`)).toBe('accepted');
    }
  });

  test.each([
    ['http://10.0.0.0/', '10.0.0.0/8'],
    ['http://10.255.255.255/', '10.0.0.0/8'],
    ['http://172.16.0.1/', '172.16.0.0/12'],
    ['http://172.31.255.255/', '172.16.0.0/12'],
    ['http://192.168.1.1/', '192.168.0.0/16'],
    ['http://[fd00::1]/', 'fc00::/7'],
  ])('T-WF-SSRF-03 rejects %s', (url, cidr) => {
    expect(check(url)).toMatchObject({code: 'ssrf_blocked', cidr, toggle: 'block_private_ips'});
  });

  test('T-WF-SSRF-03 their neighbours are public', () => {
    for (const host of [
      '9.255.255.255',
      '11.0.0.0',
      '172.15.255.255',
      '172.32.0.0',
      '192.167.255.255',
      '192.169.0.0',
    ]) {
      expect(check(`http://${host}/`)).toBe('accepted');
    }
  });

  test.each([
    'http://169.254.0.0/',
    'http://169.254.169.254/',
    'http://169.254.255.255/',
    'http://[fe80::1]/',
    'http://[febf::]/',
  ])('T-WF-SSRF-04 rejects %s', url => {
    expect(check(url)).toMatchObject({code: 'ssrf_blocked', toggle: 'block_link_local'});
  });

  test('T-WF-SSRF-05 rejects an IPv4-mapped address with the IPv4 address and row', () => {
    const details = {
      code: 'ssrf_blocked',
      blocked_ip: '10.0.0.1',
      cidr: '10.0.0.0/8',
      toggle: 'block_private_ips',
    };
    for (const host of [
      '[::ffff:10.0.0.1]',
      '[::FFFF:a00:1]',
      '[0:0:0:0:0:ffff:0a00:0001]',
      '[64:ff9b::10.0.0.1]',
    ]) {
      expect(check(`http://${host}/`)).toEqual(details);
    }
    expect(check('http://[::ffff:8.8.8.8]/')).toBe('accepted');
    expect(check('http://[64:ff9b::8.8.8.8]/')).toBe('accepted');
  });

  test.each([
    '2606:4700::ffff:10.0.0.1',
    '2606:4700:0:1::ffff:10.0.0.1',
    '64:ff9b::1:0:10.0.0.1',
    '64:ff9b:0:1::10.0.0.1',
  ])('T-WF-SSRF-05 %s only looks as if the IPv4 address in it were reached', address => {
    const blocked = classifyAddress(address, DEFAULT);
    expect(blocked?.blocked_ip ?? 'accepted').not.toBe('10.0.0.1');
    expect(blocked?.toggle).toBe(address.startsWith('2606') ? undefined : 'block_reserved');
  });

  test.each(['2001:db8::ffff:8.8.8.8', 'fe80::ffff:8.8.8.8', '1::ffff:8.8.8.8', '::1:0:ffff:8.8.8.8'])(
    'T-WF-SSRF-05 %s is not saved by the public IPv4 address in it',
    address => {
      expect(classifyAddress(address, DEFAULT)).toBeDefined();
    },
  );

  test('ruling A6 the most specific row speaks', () => {
    expect(check('http://255.255.255.255/')).toMatchObject({cidr: '255.255.255.255/32'});
    expect(check('http://[::]/')).toMatchObject({cidr: '::/128'});
    expect(check('http://[::2]/')).toMatchObject({cidr: '::/96'});
    expect(check('http://[4000::]/')).toMatchObject({cidr: '4000::/2', toggle: 'block_reserved'});
    expect(check('http://[fec0::1]/')).toMatchObject({cidr: '8000::/1', toggle: 'block_reserved'});
  });

  test('ruling A5 with block_loopback off, localhost is checked against what else is blocked', () => {
    expect(check('http://localhost/', policyWithout(['block_loopback']))).toBe('accepted');
    const extra = policyWithout(['block_loopback'], ['::1/128']);
    expect(check('http://localhost/', extra)).toEqual({
      code: 'ssrf_blocked',
      blocked_ip: '::1',
      cidr: '::1/128',
      host: 'localhost',
    });
  });

  test('the message says what, with which value, then what to do', () => {
    const parsed = parseUrl('http://[::ffff:10.0.0.7]/?secret');
    const result = parsed.ok && checkUrl(parsed.value, DEFAULT, true);
    expect(result).toMatchObject({
      error: {message: '10.0.0.7 is a private address (10.0.0.0/8). Use a public address.'},
    });
  });
});

test.each([
  '',
  'localhost',
  '127.1',
  '0x7f.0.0.1',
  '010.0.0.1',
  '1.2.3.4.5',
  '8.8.8.8 ',
  '::1%lo',
  '1::2::3',
  ':1',
  '::g',
  '1:2:3:4:5:6:7:8:9',
  '::1.2.3',
  '1:2:3:4:5:6:7::8:9',
  '8.8.8.8:80',
  `${'0'.repeat(5000)}::1`,
  '256.1.1.1',
  '1.2.3.4::',
  '1.2.3.4:1:2:3:4:5:6',
  '::1.2.3.4:1',
  '1:2:3:4:5:6:7',
])('fails closed: %j is no address that can be checked', address => {
  expect(classifyAddress(address, policyWithout([...BLOCK_TOGGLES]))).toEqual({
    blocked_ip: address,
    cidr: '::/0',
    description: 'not an address that can be checked',
  });
});
