import {
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import {dirname, join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {CACHE_URL, diskCacheFixture} from '../../../../test/support/disk-cache-fixture.ts';
import type {Result} from '../../../core/result.ts';
import {type CacheManager, openCacheManager} from './cache-manager.ts';

const DAY_MS = 86_400_000;

function fixture(settings: {maxEntries?: number; maxBytes?: number} = {}) {
  const disk = diskCacheFixture();
  const {directory, clock} = disk;
  const manager = (changes: Partial<Parameters<typeof openCacheManager>[0]> = {}): CacheManager =>
    openCacheManager({directory, maxEntries: 100, maxBytes: 2 ** 30, clock, ...settings, ...changes});
  return {...disk, manager: manager(), openManager: manager};
}

async function value<Value>(pending: Promise<Result<Value>>): Promise<Value> {
  const result = await pending;
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

const url = (name: string): string => `https://${name}.example/page`;

describe('stats and list', () => {
  test('policy: a directory that is not there yet is an empty cache, and is not made', async () => {
    const {manager, directory} = fixture();
    expect(await value(manager.stats())).toMatchObject({
      directory,
      entries: 0,
      bytes: 0,
      oldest: null,
      hosts: [],
    });
    expect(await value(manager.list())).toEqual([]);
    expect(await value(manager.show(CACHE_URL))).toEqual([]);
    expect(await value(manager.prune())).toMatchObject({kept: 0, removed_bytes: 0});
    expect(existsSync(directory)).toBe(false);
  });

  test('policy: pages are told with their age, state and size, the latest first', async () => {
    const {cache, manager, page, clock} = fixture();
    await cache.write(page(url('a')));
    clock.advance(5 * DAY_MS);
    await cache.write(page(url('b'), {rendering_method: 'browser', origin: 'forced'}));
    clock.advance(3 * DAY_MS);
    const list = await value(manager.list());
    expect(list.map(({url, rendering_method, fresh}) => [url, rendering_method, fresh])).toEqual([
      [url('b'), 'browser', true],
      [url('a'), 'http', false],
    ]);
    expect(list[0]).toMatchObject({
      fetched_at: '2026-01-15T12:00:00.000Z',
      expires_at: '2026-01-22T12:00:00.000Z',
      last_accessed_at: '2026-01-15T12:00:00.000Z',
    });
    expect(await value(manager.stats())).toMatchObject({
      entries: 2,
      bytes: list.reduce((sum, entry) => sum + entry.bytes, 0),
      max_entries: 100,
      max_bytes: 2 ** 30,
      fresh: 1,
      stale: 1,
      unusable: 0,
      oldest: '2026-01-10T12:00:00.000Z',
      newest: '2026-01-15T12:00:00.000Z',
    });
  });

  test('policy: hosts are told with their pages, those with most first', async () => {
    const {cache, manager, page} = fixture();
    for (const path of ['x', 'y']) await cache.write(page(`https://b.example/${path}`));
    await cache.write(page('https://a.example:8443/'));
    const {hosts} = await value(manager.stats());
    expect(hosts.map(({host, entries}) => [host, entries])).toEqual([
      ['b.example', 2],
      ['a.example:8443', 1],
    ]);
  });

  test('policy: the first bytes tell enough of a large page, whatever its text says', async () => {
    const {cache, manager, page} = fixture();
    const markdown = `"fetched_at":"1999-01-01T00:00:00Z" ${'x'.repeat(100_000)}`;
    const quoted = `https://a.example/?${'"\\'.repeat(3)}`;
    await cache.write(page(quoted, {extracted: {markdown}}));
    const long = `https://a.example/${'l'.repeat(8000)}`;
    await cache.write(page(long, {extracted: {markdown}}));
    const list = await value(manager.list());
    expect(list.map(entry => entry.url).sort()).toEqual([quoted, long].sort());
    expect(list.every(entry => entry.fetched_at.startsWith('2026-01-10'))).toBe(true);
  });
});

test('policy: pages of one moment are listed by their addresses', async () => {
  const {cache, manager, page, clock} = fixture();
  await cache.write(page(url('z')));
  clock.advance(1000);
  for (const name of ['c', 'a', 'd', 'b']) await cache.write(page(url(name)));
  const list = await value(manager.list());
  expect(list.map(entry => entry.url)).toEqual(['a', 'b', 'c', 'd', 'z'].map(url));
});

describe('ruling F4 what is damaged', () => {
  test('ruling F4 is counted and never fails a command', async () => {
    const {cache, manager, page, pathOf, tamper, directory} = fixture();
    const names = ['cut', 'other', 'version', 'time', 'huge', 'link', 'good'];
    for (const name of names) await cache.write(page(url(name)));
    writeFileSync(pathOf(url('cut')), readFileSync(pathOf(url('cut'))).subarray(0, 50));
    tamper({canonical_url: 'https://elsewhere.example/'}, url('other'));
    tamper({version: 3}, url('version'));
    tamper({expires_at: '9999-99-99T99:99:99Z'}, url('time'));
    truncateSync(pathOf(url('huge')), 2 ** 40);
    rmSync(pathOf(url('link')));
    symlinkSync('/etc/passwd', pathOf(url('link')));
    mkdirSync(join(directory, 'zz'));
    writeFileSync(join(directory, 'notes.txt'), 'mine');
    expect(await value(manager.stats())).toMatchObject({entries: 6, fresh: 1, unusable: 5});
    expect((await value(manager.list())).map(entry => entry.url)).toEqual([url('good')]);
    for (const name of names.filter(name => name !== 'link')) {
      expect(await value(manager.show(url(name)))).toHaveLength(name === 'good' ? 1 : 0);
    }
    expect(await manager.show(url('link'))).toMatchObject({ok: false, error: {code: 'cache_read_failed'}});
    expect(await value(manager.prune())).toMatchObject({removed: {unusable: 5}, kept: 1, refused: 0});
    expect(existsSync(pathOf(url('good')))).toBe(true);
    expect(existsSync(join(directory, 'notes.txt'))).toBe(true);
  });

  test.each([
    ['no directory', ''],
    ['a file', '/etc/hostname'],
    ['everybody’s directory', '/tmp'],
  ])('ruling F4 %s is cache_read_failed, for every command', async (_, directory) => {
    const {openManager} = fixture();
    const manager = openManager({directory});
    for (const command of [
      manager.stats,
      manager.list,
      manager.prune,
      manager.clear,
      () => manager.show(CACHE_URL),
    ]) {
      expect(await command()).toMatchObject({ok: false, error: {code: 'cache_read_failed'}});
    }
  });
});

test('ruling F4 what cannot be used is said, with what to do', async () => {
  const {openManager} = fixture();
  expect(await openManager({directory: ''}).stats()).toMatchObject({
    error: {
      message:
        'There is no page cache: tools.webfetch.cache_dir is empty. Set it to a directory of your own.',
      details: {path: '', error: 'disabled'},
    },
  });
  expect(await openManager({directory: '/etc/hostname/x'}).list()).toMatchObject({
    error: {
      message:
        'The page cache at /etc/hostname/x cannot be used: ENOTDIR. Check its owner and permissions, or set tools.webfetch.cache_dir to a directory of your own.',
      details: {path: '/etc/hostname/x', error: 'ENOTDIR'},
    },
  });
});

test('ruling F4 an entry of one page under the name of another is none', async () => {
  const {cache, manager, page, tamper} = fixture();
  await cache.write(page());
  tamper({rendering_method: 'browser', origin: 'forced'});
  expect(await value(manager.show(CACHE_URL))).toEqual([]);
});

test('policy: an entry that is larger than the cache may be is not shown', async () => {
  const {cache, openManager, page, pathOf} = fixture();
  await cache.write(page());
  const bytes = readFileSync(pathOf()).length;
  expect(await value(openManager({maxBytes: bytes}).show(CACHE_URL))).toHaveLength(1);
  expect(await value(openManager({maxBytes: bytes - 1}).show(CACHE_URL))).toEqual([]);
});

describe('show', () => {
  test('policy: both renderings of a page, expired or not, and looking is no use of them', async () => {
    const {cache, manager, page, stored, clock} = fixture();
    await cache.write(page());
    await cache.write(
      page(CACHE_URL, {rendering_method: 'browser', origin: 'fallback', notes: ['charset_fallback']}),
    );
    const before = stored();
    clock.advance(30 * DAY_MS);
    const [http, browser, ...more] = await value(manager.show(CACHE_URL));
    expect(more).toEqual([]);
    expect(http).toMatchObject({rendering_method: 'http', extracted: {title: 'Page'}});
    expect(browser).toMatchObject({
      rendering_method: 'browser',
      origin: 'fallback',
      notes: ['charset_fallback'],
    });
    expect(stored()).toEqual(before);
  });
});

describe('prune', () => {
  test('policy: where nothing goes, no other process has to count anew', async () => {
    const {cache, manager, page, directory} = fixture();
    await cache.write(page(url('a')));
    expect(await value(manager.prune())).toMatchObject({removed_bytes: 0, kept: 1});
    expect(existsSync(join(directory, 'changes.log'))).toBe(true);
  });

  test('policy: what has expired goes, and the freed bytes are told', async () => {
    const {cache, manager, page, pathOf, clock} = fixture();
    await cache.write(page(url('old')));
    const bytes = readFileSync(pathOf(url('old'))).length;
    clock.advance(8 * DAY_MS);
    await cache.write(page(url('new')));
    expect(await value(manager.prune())).toEqual({
      removed: {expired: 1, unusable: 0, over_limit: 0, cleared: 0},
      removed_bytes: bytes,
      kept: 1,
      kept_bytes: readFileSync(pathOf(url('new'))).length,
      refused: 0,
    });
    expect(existsSync(pathOf(url('old')))).toBe(false);
  });

  test('FR-WF-CCH-LRU-01 above the limits the least recently used go first', async () => {
    const {cache, openManager, page, clock} = fixture();
    for (const name of ['a', 'b', 'c', 'd']) {
      await cache.write(page(url(name)));
      clock.advance(1000);
    }
    await cache.read(url('a'), 'http');
    expect(await value(openManager({maxEntries: 3}).prune())).toMatchObject({
      removed: {over_limit: 1},
      kept: 3,
    });
    const left = await value(openManager().list());
    expect(left.map(entry => entry.url).sort()).toEqual([url('a'), url('c'), url('d')]);
    const maxBytes = (left[0]?.bytes ?? 0) + 1;
    expect(await value(openManager({maxBytes}).prune())).toMatchObject({removed: {over_limit: 2}, kept: 1});
    expect((await value(openManager().list())).map(entry => entry.url)).toEqual([url('a')]);
  });

  test('policy: a page that another process has just written again is kept', async () => {
    const {cache, manager, page, pathOf, clock} = fixture();
    await cache.write(page());
    clock.advance(8 * DAY_MS);
    const pruned = manager.prune();
    // The survey opens the file before this is seen, or reads the new one; neither may lose it.
    await cache.write(page());
    await pruned;
    await cache.write(page());
    expect(existsSync(pathOf())).toBe(true);
    expect(await cache.read(CACHE_URL, 'http')).toBeDefined();
  });

  test('policy: a running process counts anew after a prune', async () => {
    const {again, manager, page, clock, tamper} = fixture();
    const cache = again({maxEntries: 3});
    for (const name of ['a', 'b', 'c']) {
      await cache.write(page(url(name)));
      clock.advance(1000);
    }
    tamper({expires_at: '2026-01-01T00:00:00.000Z'}, url('c'));
    expect(await value(manager.prune())).toMatchObject({removed: {expired: 1}, kept: 2});
    // It would evict the first one, if it still believed in three.
    await cache.write(page(url('d')));
    expect((await value(manager.list())).map(entry => entry.url).sort()).toEqual([
      url('a'),
      url('b'),
      url('d'),
    ]);
  });
});

describe('clear', () => {
  test('policy: of two at once each entry is removed by one, and counted by it', async () => {
    const {cache, manager, openManager, page, files} = fixture();
    const names = Array.from({length: 20}, (_, at) => `p${at}`);
    for (const name of names) await cache.write(page(url(name)));
    const both = await Promise.all([value(manager.clear()), value(openManager().clear())]);
    expect(both.reduce((sum, {removed}) => sum + removed.cleared, 0)).toBe(names.length);
    expect(both.map(({refused}) => refused)).toEqual([0, 0]);
    expect(files()).toEqual([]);
  });

  test('policy: every entry goes, parts of dead writers too, and nothing that is not the cache’s', async () => {
    const {cache, manager, page, pathOf, directory, files} = fixture();
    await cache.write(page(url('a')));
    await cache.write(page(url('b')));
    const part = join(dirname(pathOf(url('a'))), `${'0'.repeat(64)}.tmp.abcd`);
    writeFileSync(part, '');
    utimesSync(part, 1, 1);
    mkdirSync(join(directory, 'photos'));
    writeFileSync(join(directory, 'photos', 'a.json'), 'mine');
    expect(await value(manager.clear())).toMatchObject({removed: {cleared: 2}, kept: 0, kept_bytes: 0});
    expect(files()).toEqual(['photos/a.json']);
    expect(await cache.read(url('a'), 'http')).toBeUndefined();
    expect(await cache.write(page(url('a')))).toBe(true);
    expect(await cache.read(url('a'), 'http')).toBeDefined();
  });
});
