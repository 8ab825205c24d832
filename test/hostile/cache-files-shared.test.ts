import {execFile} from 'node:child_process';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {expect, test} from 'vitest';
import {diskCacheFixture} from '../support/disk-cache-fixture.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

const run = promisify(execFile);
const WORKER = join(import.meta.dirname, 'support/cache-files-worker.js');

interface Shared {
  readonly wrong: readonly string[];
  readonly hits: number;
  /** Different ones. */
  readonly logs: readonly string[];
}

async function work(
  mode: 'share' | 'vandal',
  directory: string,
  seed: number,
  turns: number,
): Promise<Shared> {
  const {stdout} = await run(process.execPath, [WORKER, mode, directory, String(seed), String(turns)]);
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Shared;
}

test('ruling F6 six processes on one directory never see half a page or a page of another URL', async () => {
  const directory = join(temporaryDirectory(), 'cache');
  const all = await Promise.all([1, 2, 3, 4, 5, 6].map(seed => work('share', directory, seed, 400)));
  expect(all.flatMap(({wrong}) => wrong)).toEqual([]);
  expect(all.flatMap(({logs}) => logs)).toEqual([]);
  for (const {hits} of all) expect(hits).toBeGreaterThan(50);
  const fixture = diskCacheFixture({directory, maxEntries: 12});
  expect(await fixture.cache.write(fixture.page())).toBe(true);
  // Ruling F6: in the instant, one too many for each process; after the next write none.
  expect(fixture.files().filter(name => name.endsWith('.json')).length).toBeLessThanOrEqual(12);
  expect(fixture.files().filter(name => name.includes('.tmp.'))).toEqual([]);
});

test('ruling F4 while another process damages the directory, reads are right or misses, and nothing throws', async () => {
  const directory = join(temporaryDirectory(), 'cache');
  const [, ...all] = await Promise.all([
    work('vandal', directory, 77, 400),
    ...[1, 2, 3].map(seed => work('share', directory, seed, 600)),
  ]);
  expect(all.flatMap(({wrong}) => wrong)).toEqual([]);
  for (const {hits} of all) expect(hits).toBeGreaterThan(20);
  // Failures are told, by name, and none of them is a surprise.
  for (const line of all.flatMap(({logs}) => logs)) {
    expect(line).toMatch(
      /^cache_(?:read|write|touch|evict|journal)_failed: (?:ELOOP|EISDIR|ERR_FS_EISDIR|ENOTDIR|ENOTEMPTY|ENOENT|EEXIST)$/,
    );
  }
});
