import {execFile} from 'node:child_process';
import {readdirSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {diskCacheFixture} from '../support/disk-cache-fixture.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';
import {pageText, versionOf} from './support/cache-files-pages.ts';

interface Line {
  /** A write that was begun, or has ended. */
  readonly writes?: string;
  readonly wrote?: string;
  readonly version?: number;
  readonly ok?: boolean;
  /** A read gave a page that was not whole. */
  readonly wrong?: string;
  /** At the end only. */
  readonly steps?: readonly string[];
  readonly logs?: readonly unknown[];
}

const WORKER = join(import.meta.dirname, 'support/cache-files-worker.js');
const URLS = [...'abcdef'].map(name => `https://example.com/${name}`);
const MAX_ENTRIES = 3;
const AT_ONCE = 3;

/** A process that does everything a cache does, and is killed before its K-th step (0: never). */
function live(
  directory: string,
  k: number,
): Promise<{readonly signal: string | null; readonly lines: readonly Line[]}> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [WORKER, 'kill', directory, String(k)], (error, stdout, stderr) => {
      if (stderr !== '') return reject(new Error(stderr));
      const lines = stdout.split('\n').flatMap(line => (line === '' ? [] : [JSON.parse(line) as Line]));
      resolve({signal: error === null ? null : (error.signal ?? null), lines});
    });
  });
}

/** What somebody who opens the directory afterwards finds. */
async function scan(directory: string, lines: readonly Line[]): Promise<void> {
  const fixture = diskCacheFixture({directory, maxEntries: MAX_ENTRIES});
  expect(lines.filter(({wrong}) => wrong !== undefined)).toEqual([]);
  for (const url of URLS) {
    const begun = lines.filter(({writes}) => writes === url).map(({version}) => version);
    const ended = lines.filter(({wrote}) => wrote === url).map(({version}) => version ?? 0);
    const entry = await fixture.cache.read(url, 'http');
    if (entry === undefined) continue;
    const version = versionOf(entry.extracted);
    // Whole, of this URL, of a version that somebody wrote, and none that was replaced.
    expect(entry.extracted).toEqual(pageText(url, version));
    expect(begun).toContain(version);
    expect(version).toBeGreaterThanOrEqual(Math.max(0, ...ended));
  }
  // The next process works, and what the dead one left is gone when it is old enough.
  const later = Date.now() + 2 * 3_600_000;
  const next = fixture.again({clock: {...fixture.clock, now: () => later}});
  const after = 'https://example.com/after';
  expect(await next.write(fixture.page(after, {fetched_at: new Date(later).toISOString()}))).toBe(true);
  expect(await next.read(after, 'http')).toBeDefined();
  const names = readdirSync(directory, {recursive: true}).map(String);
  expect(names.filter(name => name.includes('.tmp.'))).toEqual([]);
  expect(names.filter(name => name.endsWith('.json')).length).toBeLessThanOrEqual(MAX_ENTRIES);
  expect(fixture.log).toEqual([]);
}

test('FR-WF-16g killed before any step of any operation, a cache serves whole pages of the right URL only', async () => {
  const base = temporaryDirectory();
  const whole = await live(join(base, '0'), 0);
  const end = whole.lines.at(-1);
  const steps = end?.steps ?? [];
  expect(end?.logs).toEqual([]);
  expect(whole.lines.filter(({ok}) => ok === false)).toEqual([]);
  // Positive control: every kind of step is among them.
  for (const kind of ['first half', 'second half', 'rename', 'rm', 'handle.write', 'readdir']) {
    expect(steps).toContain(kind);
  }
  await scan(join(base, '0'), whole.lines);

  let next = 1;
  let killed = 0;
  const killAll = async (): Promise<void> => {
    for (let k = next++; k <= steps.length; k = next++) {
      const directory = join(base, String(k));
      const {signal, lines} = await live(directory, k);
      if (signal === 'SIGKILL') killed += 1;
      await scan(directory, lines);
    }
  };
  await Promise.all(Array.from({length: AT_ONCE}, killAll));
  // A step or two depend on who is first among concurrent ones.
  expect(killed).toBeGreaterThan(steps.length - 5);
  expect(steps.length).toBeGreaterThan(150);
}, 180_000);
