import {execFile} from 'node:child_process';
import {join} from 'node:path';
import {promisify} from 'node:util';
import fc from 'fast-check';
import {beforeAll, describe, expect, test} from 'vitest';
import {classifyAddress} from '../../src/web/guard/check-url.ts';
import {SPECIAL_RANGES} from '../../src/web/guard/ip.ts';
import {readGuardPolicy} from '../../src/web/guard/policy.ts';
import {needs, TEST_CHROMIUM} from '../support/parts.ts';
import {URL_INPUTS} from './support/addresses-inputs.ts';
import {boundaries, dotted, grouped, mayReach, numeric, REGISTRY_CIDRS} from './support/addresses-model.ts';
import {IPV4_REGISTRY, IPV6_REGISTRY, STRICTER} from './support/addresses-registry.ts';

const settings = readGuardPolicy({
  block_private_ips: true,
  block_loopback: true,
  block_link_local: true,
  block_reserved: true,
  allowed_ports: [],
  additional_blocked_cidrs: [],
  max_dns_attempts: 2,
  allow_insecure_overrides: false,
});
if (!settings.ok) throw new Error(settings.error.join());
const {policy} = settings.value;

/**
 * Both sides are tables, so both are constant between the ends of their rows: who agrees at every end of
 * either table, and beside it, agrees everywhere.
 */
const CIDRS = [...REGISTRY_CIDRS, ...SPECIAL_RANGES.map(({cidr}) => cidr)];
const V4 = boundaries(CIDRS, 32);
const V6 = boundaries(CIDRS, 128);

const low = (value: bigint): bigint => value & 0xffff_ffffn;
const hexTail = (value: bigint): string => `${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;

/** An IPv4 address inside an IPv6 one, and whether that form can be reached at all. */
const EMBEDDINGS: readonly {
  readonly name: string;
  readonly write: (value: bigint) => string;
  readonly mayReach: (value: bigint) => boolean;
}[] = [
  ...(
    [
      ['IPv4-mapped', '::ffff:'],
      ['NAT64 64:ff9b::/96', '64:ff9b::'],
    ] as const
  ).flatMap(([name, prefix]) =>
    [
      {name: `${name}, hexadecimal`, write: (value: bigint) => prefix + hexTail(value)},
      {name: `${name}, dotted`, write: (value: bigint) => prefix + dotted(value)},
    ].map(form => ({...form, mayReach: (value: bigint) => mayReach({bits: 32, value})})),
  ),
  ...(
    [
      ['IPv4-mapped, every group, upper case', v => `0:0:0:0:0:FFFF:${hexTail(v).toUpperCase()}`],
      ['NAT64, every group', v => `0064:ff9b:0:0:0:0:${hexTail(v)}`],
    ] as const satisfies readonly (readonly [string, (value: bigint) => string])[]
  ).map(([name, write]) => ({name, write, mayReach: (value: bigint) => mayReach({bits: 32, value})})),
  ...(
    [
      ['IPv4-compatible', v => (v > 0xffffn ? `::${hexTail(v)}` : `::${v.toString(16)}`)],
      ['IPv4-compatible, dotted', v => `::${dotted(v)}`],
      ['IPv4-translated', v => `::ffff:0:${dotted(v)}`],
      ['NAT64 64:ff9b:1::/48 (/96 form)', v => `64:ff9b:1::${dotted(v)}`],
      [
        'NAT64 64:ff9b:1::/48 (/48 form)',
        v =>
          `64:ff9b:1:${(v >> 16n).toString(16)}:${((v >> 8n) & 255n).toString(16)}:${((v & 255n) << 8n).toString(16)}::`,
      ],
      ['6to4', v => `2002:${hexTail(v)}::1`],
      ['Teredo server', v => `2001:0:${hexTail(v)}:8000:63bf:3fff:fdd2`],
      ['Teredo client', v => `2001:0:4136:e378:8000:63bf:${hexTail(low(~v))}`],
      ['ISATAP, link-local', v => `fe80::5efe:${dotted(v)}`],
      ['ISATAP, link-local, universal bit', v => `fe80::200:5efe:${hexTail(v)}`],
      ['ISATAP, unique local', v => `fd00::5efe:${dotted(v)}`],
    ] as const satisfies readonly (readonly [string, (value: bigint) => string])[]
  ).map(([name, write]) => ({name, write, mayReach: () => false})),
  {
    // An interface identifier is classified by its prefix: whoever routes the prefix decides what it means.
    name: 'ISATAP, global prefix',
    write: v => `2a00:1450:4001:81b:0:5efe:${hexTail(v)}`,
    mayReach: () => true,
  },
];

const isAllowed = (text: string): boolean => classifyAddress(text, policy) === undefined;

/** Lines that say where the guard and the registry differ; none is what we want. */
function differences(
  cases: readonly {readonly text: string; readonly expected: boolean}[],
): readonly string[] {
  return cases
    .filter(({text, expected}) => isAllowed(text) !== expected)
    .map(
      ({text, expected}) =>
        `${text} ${expected ? 'is refused and is global' : 'is let through and must not be'}`,
    );
}

describe('hostile addresses: the guard agrees with the IANA registries', () => {
  test('the data of the test are what they say: no row twice, every exception real', () => {
    for (const rows of [IPV4_REGISTRY, IPV6_REGISTRY, STRICTER]) {
      expect(new Set(rows.map(({cidr}) => cidr)).size).toBe(rows.length);
    }
    expect(V4.length).toBeGreaterThan(120);
    expect(V6.length).toBeGreaterThan(150);
  });

  test('policy: every IPv4 address at an end of a range, beside it and inside', () => {
    const cases = V4.map(value => ({text: dotted(value), expected: mayReach({bits: 32, value})}));
    expect(differences(cases)).toEqual([]);
    expect(cases.filter(({expected}) => expected).length).toBeGreaterThan(30);
  });

  test('policy: the first, the second and the last address of all 65,536 blocks of 65,536', () => {
    const cases = Array.from({length: 65_536}, (_, block) =>
      [0n, 1n, 0xffffn].map(offset => (BigInt(block) << 16n) + offset),
    )
      .flat()
      .map(value => ({text: dotted(value), expected: mayReach({bits: 32, value})}));
    expect(differences(cases)).toEqual([]);
  }, 60_000);

  test('policy: every IPv6 address at an end of a range, in full, short and upper case', () => {
    const cases = V6.flatMap(value => {
      const full = grouped(value);
      const padded = (value.toString(16).padStart(32, '0').match(/.{4}/g) ?? []).join(':');
      const short = new URL(`http://[${full}]/`).hostname.slice(1, -1);
      const tail = `${grouped(value).split(':').slice(0, 6).join(':')}:${dotted(low(value))}`;
      const expected = mayReach({bits: 128, value});
      return [full, padded, short, tail, full.toUpperCase()].map(text => ({text, expected}));
    });
    expect(differences(cases)).toEqual([]);
    expect(cases.filter(({expected}) => expected).length).toBeGreaterThan(50);
  });

  test.each(EMBEDDINGS)('policy: every IPv4 boundary in $name', ({write, mayReach: expected}) => {
    expect(differences(V4.map(value => ({text: write(value), expected: expected(value)})))).toEqual([]);
  });

  test('policy: what is blocked inside a mapped or translated address is named by its IPv4 address', () => {
    for (const prefix of ['::ffff:', '64:ff9b::']) {
      expect(classifyAddress(`${prefix}169.254.169.254`, policy)).toMatchObject({
        blocked_ip: '169.254.169.254',
        cidr: '169.254.0.0/16',
      });
    }
  });

  test('property: any address of either family, and any near a prefix of the other', () => {
    const near = fc.tuple(fc.constantFrom(...V6), fc.bigInt({min: -3n, max: 3n})).map(([at, by]) => {
      const value = at + by;
      return value < 0n || value >= 1n << 128n ? at : value;
    });
    fc.assert(
      fc.property(fc.oneof(near, fc.bigInt({min: 0n, max: (1n << 128n) - 1n})), value => {
        expect(isAllowed(grouped(value))).toBe(mayReach({bits: 128, value}));
        expect(isAllowed(dotted(low(value)))).toBe(mayReach({bits: 32, value: low(value)}));
      }),
      {numRuns: 20_000},
    );
  });

  test('policy: what is no address is never let through', () => {
    // biome-ignore format: a list
    const texts = [
      '', ' ', '1', '1.2.3', '1.2.3.4.5', '01.2.3.4', '1.2.3.04', '0x7f.0.0.1', '1.2.3.4 ', ' 1.2.3.4',
      '1.2.3.4\n', '1.2.3.256', '１.2.3.4', '1。2.3.4', '::1%lo', 'fe80::1%25eth0', '[::1]', '::ffff:1.2.3',
      '::ffff:1.2.3.4.5', '::ffff:01.2.3.4', '1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', '1::2::3', '::12345',
      ':::', ':', '1:2:3:4:5:6:7::8:9', '2a00:1450:4001:81b::200e%', '2a00::g', '2a00::-1', '٨.8.8.8',
      '8.8.8.8/32', '8.8.8.8:80', '\u00008.8.8.8',
    ];
    expect(texts.filter(isAllowed)).toEqual([]);
  });

  test('positive control: the model and the guard tell public from special', () => {
    // Positive control: the model itself tells the two apart.
    for (const text of [
      '8.8.8.8',
      '1.1.1.1',
      '192.0.1.255',
      '192.0.3.0',
      '2606:4700::1111',
      '2a00:1450::1',
    ]) {
      expect([text, mayReach(numeric(text)), isAllowed(text)]).toEqual([text, true, true]);
    }
    for (const text of [
      '127.0.0.1',
      '192.0.2.1',
      '2001:db8::1',
      '2002:808:808::1',
      '::1',
      'fec0::1',
      '5f00::1',
    ]) {
      expect([text, mayReach(numeric(text)), isAllowed(text)]).toEqual([text, false, false]);
    }
  });
});

interface Answer {
  readonly code: string;
  /** The code was inside `robots_unavailable`. */
  readonly robots?: boolean;
  /** The link as the Markdown has it. */
  readonly target?: string;
}

interface Report {
  readonly results: readonly Readonly<Record<'tool' | 'redirect' | 'robots' | 'link' | 'base', Answer>>[];
  readonly resolved: readonly string[];
  readonly connected: readonly string[];
  /** Request target and the address it arrived at. */
  readonly arrived: readonly (readonly [string, string])[];
  readonly rendered?: {readonly tried: number; readonly title: string; readonly rendering: string};
}
/** What a resolver may say: every boundary of both families, and mapped forms of the first. */
const ANSWERS = [
  ...boundaries(CIDRS, 32).flatMap(value => [dotted(value), `::ffff:${dotted(value)}`]),
  ...boundaries(CIDRS, 128).map(grouped),
];
const run = promisify(execFile);
const PROBE = join(import.meta.dirname, 'support/addresses-probe.js');
let report: Report;

/** Needs root, for a network of its own in which every address answers; CI is. */
function listDifferences(position: 'tool' | 'redirect' | 'robots'): readonly string[] {
  return URL_INPUTS.flatMap(({url, expected}, index) => {
    const code = report.results[index]?.[position]?.code;
    return code === undefined || code === expected
      ? []
      : [`${JSON.stringify(url)}: ${code}, expected ${expected}`];
  });
}

/** By the URL standard and the registry: whether the URL leads to an address that may be reached. */
function mayLeadTo(href: string): boolean {
  const {hostname, port, protocol, username, password} = new URL(href);
  if (!/^https?:$/.test(protocol) || port !== '' || username !== '' || password !== '') return false;
  const name = hostname.replace(/\.$/, '');
  if (/(?:^|\.)localhost$/.test(name) || /(?:^|\.)private\.example$/.test(name)) return false;
  // Any other name resolves to a public address here.
  if (!name.startsWith('[') && /[^0-9.]|\.$/.test(name)) return true;
  return mayReach(numeric(name.replace(/^\[|\]$/g, '')));
}

describe(
  'hostile addresses: what is reached, in a network where every address answers',
  needs('root', 'tcpdump'),
  () => {
    beforeAll(async () => {
      const probe = run('unshare', ['--net', process.execPath, PROBE, TEST_CHROMIUM], {maxBuffer: 2 ** 28});
      probe.child.stdin?.end(JSON.stringify({urls: URL_INPUTS, answers: ANSWERS}));
      const {stdout} = await probe;
      report = JSON.parse(stdout) as Report;
    }, 180_000);

    test('SRD 3.2 no connection was made to an address that the registries call special', () => {
      expect(report.connected.filter(address => !mayReach(numeric(address)))).toEqual([]);
      // Positive control: the public ones were reached, of both families.
      expect(report.connected).toEqual(
        expect.arrayContaining(['8.8.8.8', '2606:4700:4700::1111', '172.32.0.1']),
      );
      expect(report.connected.length).toBeGreaterThan(50);
    });

    test('ruling A1 every spelling through the tool gets the answer that the rulings give', () => {
      expect(URL_INPUTS.length).toBeGreaterThan(1000);
      expect(listDifferences('tool')).toEqual([]);
    });

    test('FR-WF-07b the same through a redirect', () => {
      expect(listDifferences('redirect')).toEqual([]);
    });

    test('ruling B3 the same through a redirect of robots.txt', () => {
      expect(listDifferences('robots')).toEqual([]);
      const refused = URL_INPUTS.filter(
        ({expected}, at) => expected !== 'ok' && report.results[at]?.robots !== undefined,
      );
      expect(refused.every(input => report.results[URL_INPUTS.indexOf(input)]?.robots.robots)).toBe(true);
    });

    test.each(['link', 'base'] as const)(
      'ruling D10 a %s leads where the same URL leads, or nowhere',
      position => {
        const wrong = URL_INPUTS.flatMap(({url}, index) => {
          const answer = report.results[index]?.[position];
          if (answer?.target === undefined) return [];
          const expected = mayLeadTo(answer.target);
          return (answer.code === 'ok') === expected
            ? []
            : [`${JSON.stringify(url)} → ${answer.target}: ${answer.code}`];
        });
        expect(wrong).toEqual([]);
        expect(report.results.filter(result => result[position]?.code === 'ok').length).toBeGreaterThan(50);
      },
    );

    test('ruling A5 an address that a resolver answers is checked like a literal one', () => {
      const wrong = ANSWERS.flatMap((address, index) => {
        const plain = address.replace(/^::ffff:(?=\d+\.)/, '');
        const expected = mayReach(numeric(plain)) ? 'ok' : 'ssrf_blocked';
        const code = report.resolved[index];
        return code === expected ? [] : [`${address}: ${code}, expected ${expected}`];
      });
      expect(wrong).toEqual([]);
    });

    test('FR-WF-04 what arrived came to the address that was asked for', () => {
      const wrong = report.arrived.flatMap(([target, address]) => {
        const [, kind, index = ''] = /\/m-(\w+)-(\d+)$/.exec(target.split(/[?#]/)[0] ?? '') ?? [];
        if (kind === undefined || kind === 'dns' || kind === 'base') return [];
        const url = URL_INPUTS[Number(index)]?.url.replaceAll('{path}', 'x') ?? '';
        const host = new URL(url.trim()).hostname.replace(/^\[|\]$/g, '');
        if (!url.includes('[') && /[^0-9.]|\.$/.test(host))
          return address === '8.8.4.4' ? [] : [`${target} at ${address}`];
        return numeric(host).value % 2n ** 32n === numeric(address).value % 2n ** 32n
          ? []
          : [`${target} at ${address}`];
      });
      expect(wrong).toEqual([]);
    });

    test(
      'FR-WF-11b a page in the browser that asks for all of them gets the public ones',
      needs('Chromium'),
      () => {
        expect(report.rendered).toMatchObject({title: 'all tried', rendering: 'browser'});
        const asked = report.arrived.filter(([target]) => target.startsWith('/m-browser-'));
        expect(asked.length).toBeGreaterThan(50);
        expect(asked.filter(([, address]) => !mayReach(numeric(address)))).toEqual([]);
      },
    );
  },
);
