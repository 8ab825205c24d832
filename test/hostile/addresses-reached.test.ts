import {execFile} from 'node:child_process';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {beforeAll, describe, expect, test} from 'vitest';
import {SPECIAL_RANGES} from '../../src/web/ip/special-ranges.ts';
import {TEST_CHROMIUM} from '../support/browser-test.ts';
import {URL_INPUTS} from './support/addresses-inputs.ts';
import {boundaries, dotted, grouped, mayReach, numeric, REGISTRY_CIDRS} from './support/addresses-model.ts';

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

const CIDRS = [...REGISTRY_CIDRS, ...SPECIAL_RANGES.map(({cidr}) => cidr)];
/** What a resolver may say: every boundary of both families, and mapped forms of the first. */
const ANSWERS = [
  ...boundaries(CIDRS, 32).flatMap(value => [dotted(value), `::ffff:${dotted(value)}`]),
  ...boundaries(CIDRS, 128).map(grouped),
];
const run = promisify(execFile);
const PROBE = join(import.meta.dirname, 'support/addresses-probe.js');
let report: Report;

/** Needs root, for a network of its own in which every address answers; CI is. */
const describeAsRoot = describe.skipIf(process.getuid?.() !== 0);

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

describeAsRoot('hostile addresses: what is reached, in a network where every address answers', () => {
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

  test.skipIf(TEST_CHROMIUM === '')(
    'FR-WF-11b a page in the browser that asks for all of them gets the public ones',
    () => {
      expect(report.rendered).toMatchObject({title: 'all tried', rendering: 'browser'});
      const asked = report.arrived.filter(([target]) => target.startsWith('/m-browser-'));
      expect(asked.length).toBeGreaterThan(50);
      expect(asked.filter(([, address]) => !mayReach(numeric(address)))).toEqual([]);
    },
  );
});
