import {execFile} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {beforeAll, describe, expect, test} from 'vitest';
import {needs} from '../support/parts.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';
import {CASES, OTHER_PUBLIC, PUBLIC, PUBLIC_6} from './support/dns-zone.js';

interface Timed {
  readonly said: string;
  readonly elapsedMs: number;
}

const run = promisify(execFile);
const probe = join(import.meta.dirname, 'support/dns-held-up-probe.js');

/** Namespaces need root; CI is. */
test(
  'review B4: names whose server never answers hold nobody up, and end with their calls',
  needs('root'),
  async () => {
    const args = [
      '--net',
      '--mount',
      '--propagation',
      'private',
      process.execPath,
      probe,
      temporaryDirectory(),
    ];
    const {stdout} = await run('unshare', args, {env: {PATH: process.env['PATH']}, timeout: 60_000});
    const {healthy, listed, hanging, left} = JSON.parse(stdout) as {
      readonly healthy: Timed;
      readonly listed: Timed;
      readonly hanging: readonly Timed[];
      readonly left: readonly string[];
    };
    expect([healthy.said, listed.said]).toEqual(['ok', 'ok']);
    // The others take 4,000 ms, and the system's resolver took ten seconds for them.
    expect(healthy.elapsedMs).toBeLessThan(2000);
    expect(new Set(hanging.map(({said}) => said))).toEqual(new Set(['timeout/dns']));
    for (const {elapsedMs} of hanging) expect(elapsedMs).toBeLessThan(6000);
    expect(left).toEqual([]);
  },
);

describe('dns', () => {
  interface Reached {
    readonly url: string;
    readonly address: string;
  }

  interface Scene {
    readonly name: string;
    /** One for each call. */
    readonly said: readonly string[];
    readonly reached: readonly Reached[];
    readonly queries: readonly string[];
  }

  interface Sighting {
    readonly outcomes: readonly {readonly name: string; readonly said: string; readonly elapsedMs: number}[];
    readonly scenes: readonly Scene[];
    /** Every request that arrived anywhere in a network in which all addresses answer. */
    readonly reached: readonly Reached[];
    /** Sockets and lookups that were left when all was closed. */
    readonly left: readonly string[];
  }
  const probe = join(import.meta.dirname, 'support/dns-probe.js');
  const PUBLIC_ADDRESS = /^(?:93\.184\.|2606:2800:220:1:)/;

  /** Namespaces need root; CI is. */
  describe('a hostile resolver', needs('root'), () => {
    let seen: Sighting;
    const scene = (name: string): Scene => {
      const found = seen.scenes.find(candidate => candidate.name === name);
      if (found === undefined) throw new Error(`The probe played no scene "${name}".`);
      return found;
    };

    beforeAll(async () => {
      const directory = mkdtempSync(join(tmpdir(), 'forge-dns-'));
      try {
        const {stdout} = await run(
          'unshare',
          ['--net', '--mount', '--propagation', 'private', process.execPath, probe, directory],
          {env: {PATH: process.env['PATH']}, timeout: 90_000},
        );
        seen = JSON.parse(stdout) as Sighting;
      } finally {
        rmSync(directory, {recursive: true, force: true});
      }
    }, 100_000);

    describe('FR-WF-06 what it answers', () => {
      test.each(CASES)('$name', ({name, expected, slow = false}) => {
        const outcome = seen.outcomes.find(candidate => candidate.name === name);
        const said = outcome?.said ?? 'nothing';
        const wanted = expected.some(text => (text.endsWith('/') ? said.startsWith(text) : said === text));
        expect(wanted, `${said} is none of ${expected.join(', ')}`).toBe(true);
        if (slow) expect(outcome?.elapsedMs).toBeLessThan(5000);
      });

      test.each(CASES.filter(({expected}) => !expected.includes('ok')))(
        '$name: nothing is connected to',
        ({name}) => {
          expect(
            seen.reached.filter(({url}) => url.startsWith(`http://${name}.`) && !isControl(name)),
          ).toEqual([]);
        },
      );
    });

    test('ruling A7 no address was ever connected to but public ones', () => {
      const control = scene('control').reached.length;
      const guarded = seen.reached.slice(0, seen.reached.length - control);
      expect(guarded.length).toBeGreaterThan(20);
      expect(guarded.filter(({address}) => !PUBLIC_ADDRESS.test(address))).toEqual([]);
    });

    test('positive control: with the block off, the private address is reached, and seen', () => {
      const {said, reached} = scene('control');
      expect(said).toEqual(['ok', 'ok']);
      expect(reached.map(({address}) => address)).toContain('10.0.0.5');
    });

    test('IPv6 is asked for, checked and connected to', () => {
      const addresses = seen.reached
        .filter(({url}) => url.startsWith('http://aaaa-only.'))
        .map(({address}) => address);
      expect(new Set(addresses)).toEqual(new Set([PUBLIC_6]));
    });

    test('policy: nothing is left of it', () => {
      expect(seen.left).toEqual([]);
    });

    describe('rebinding', () => {
      const once = (name: string): string[] => [`udp ${name}.dns.test a`, `udp ${name}.dns.test aaaa`];

      test.each([
        ['check and connect, robots.txt and page', 'rebind-page', ['/robots.txt', '/']],
        ['page and redirect', 'rebind-redirect', ['/robots.txt', '/', '/robots.txt', '/2']],
      ])('ruling A5 between %s: one resolution, one address', (_, name, paths) => {
        const {said, reached, queries} = scene(name);
        expect(said).toEqual(['ok']);
        expect([...queries].sort()).toEqual(once(name));
        expect(reached).toEqual(
          paths.map(path => ({url: `http://${name}.dns.test${path}`, address: PUBLIC})),
        );
      });

      test('ruling A5 between two hosts and back: each is resolved once', () => {
        const {said, reached, queries} = scene('there-and-back');
        expect(said).toEqual(['ok']);
        expect([...queries].sort()).toEqual([...once('hop-public'), ...once('there-and-back')]);
        expect(new Set(reached.map(({address}) => address))).toEqual(new Set([PUBLIC]));
        expect(reached.at(-1)?.url).toBe('http://there-and-back.dns.test/2');
      });

      test('FR-WF-07e a redirect to a name with a private address is refused', () => {
        const {said, reached} = scene('to-private');
        expect(said).toEqual(['ssrf_blocked/']);
        expect(reached.map(({address}) => address)).toEqual([PUBLIC, PUBLIC]);
      });

      test('FR-WF-09a a robots.txt that redirects there is unavailable', () => {
        const {said, reached} = scene('from-robots');
        expect(said).toEqual(['robots_unavailable/ssrf_blocked']);
        expect(reached.map(({url}) => url)).toEqual(['http://from-robots.dns.test/robots.txt']);
      });

      test('FR-WF-07e a name that was public in the last call is checked again behind a redirect', () => {
        expect(scene('to-rebound').said).toEqual(['ok', 'ssrf_blocked/']);
      });

      test('ruling A5 a name is resolved and checked again for every call', () => {
        expect(scene('rebind-call').said).toEqual(['ok', 'ssrf_blocked/']);
        expect(scene('rebind-back').said).toEqual(['ssrf_blocked/', 'ok']);
      });

      test('ruling A7 a connection at rest serves no call whose name leads elsewhere', () => {
        const {said, reached} = scene('rebind-rest');
        expect(said).toEqual(['ok', 'ok', 'ssrf_blocked/']);
        expect(reached.map(({address}) => address)).toEqual([PUBLIC, PUBLIC, OTHER_PUBLIC, OTHER_PUBLIC]);
      });
    });
  });

  /** Reached on purpose, with the block off. */
  function isControl(name: string): boolean {
    return name === 'private' || name === 'public-then-private';
  }
});
