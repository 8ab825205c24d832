import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import {dirname, join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {CACHE_URL, diskCacheFixture} from '../../../test/support/disk-cache-fixture.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import type {Result} from '../../core/result.ts';
import {
  type CacheManager,
  cacheStats,
  choosePrunable,
  openCacheManager,
  removeEntry,
  type ScannedEntry,
} from './admin.ts';
import {printEntry} from './entry.ts';
import {cacheKey, readFile} from './files.ts';
import {listEntries, readEntryHead, readLastAccess} from './index.ts';

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

function entry(url: string, size: number, day: number, fresh = true): ScannedEntry {
  const at = `2026-01-0${day}T00:00:00.000Z`;
  const times = {fetched_at: at, expires_at: at, last_accessed_at: at};
  const page = {url, rendering_method: 'http' as const, ...times, bytes: size, fresh};
  return {key: url, path: `/c/${url}`, size, page} as unknown as ScannedEntry;
}
const damaged = (size: number) => ({...entry('', size, 1), page: undefined}) as ScannedEntry;
const LIMITS = {maxEntries: 9, maxBytes: 99};

test('policy: entries, bytes and times of a cache are told', () => {
  const found = [
    entry('https://b.test/1', 5, 3),
    damaged(7),
    entry('https://b.test/2', 6, 5, false),
    entry('https://b.test/3', 4, 2),
  ];
  expect(cacheStats('/c', found, LIMITS)).toEqual({
    directory: '/c',
    entries: 4,
    bytes: 22,
    max_entries: 9,
    max_bytes: 99,
    fresh: 2,
    stale: 1,
    unusable: 1,
    oldest: '2026-01-02T00:00:00.000Z',
    newest: '2026-01-05T00:00:00.000Z',
    hosts: [{host: 'b.test', entries: 3, bytes: 15}],
  });
  expect(cacheStats('/c', [], LIMITS)).toMatchObject({entries: 0, oldest: null, newest: null, hosts: []});
});

test('policy: the host with most pages comes first, then the one with most bytes, then by name', () => {
  const found = [
    entry('http://d.test/', 5, 1),
    entry('http://a.test/', 5, 1),
    entry('http://c.test/', 8, 1),
    entry('http://b.test:81/', 1, 1),
    entry('http://b.test:81/x', 1, 1),
    entry('no address', 5, 1),
  ];
  for (const list of [found, found.toReversed()]) {
    const {hosts} = cacheStats('/c', list, LIMITS);
    expect(hosts.map(({host}) => host)).toEqual(['b.test:81', 'c.test', '?', 'a.test', 'd.test']);
  }
});

describe('prunable', () => {
  /** An entry of ten bytes, last used at that second; stale, or of no use. */
  function entry(
    key: string,
    second: number | undefined,
    state: 'fresh' | 'stale' | 'unusable' = 'fresh',
  ): ScannedEntry {
    const time = second === undefined ? '' : new Date(second * 1000).toISOString();
    const page = {
      url: `https://${key}.example/`,
      rendering_method: 'http' as const,
      fetched_at: time,
      expires_at: time,
      last_accessed_at: time,
      bytes: 10,
      fresh: state === 'fresh',
    };
    return {
      key,
      path: key,
      size: 10,
      inode: 0,
      changedMs: 0,
      head: undefined,
      page: state === 'unusable' ? undefined : page,
    };
  }

  const FOUND = [
    entry('new', 9),
    entry('stale', 8, 'stale'),
    entry('b', 5),
    entry('a', 5),
    entry('bad', undefined, 'unusable'),
    entry('old', 1),
  ];
  const ALWAYS = {stale: 'expired', bad: 'unusable'};

  test.each<[string, {maxEntries?: number; maxBytes?: number}, Record<string, string>]>([
    ['what no fetch would serve', {}, {}],
    ['and nothing more, where the rest just fits', {maxEntries: 4, maxBytes: 40}, {}],
    ['the least recently used one, by number', {maxEntries: 3}, {old: 'over_limit'}],
    ['the least recently used one, by size', {maxBytes: 39}, {old: 'over_limit'}],
    ['of two as old as each other, the first by key', {maxEntries: 2}, {old: 'over_limit', a: 'over_limit'}],
    ['as many as it takes, by size', {maxBytes: 19}, {old: 'over_limit', a: 'over_limit', b: 'over_limit'}],
    ['all', {maxEntries: 0}, {old: 'over_limit', a: 'over_limit', b: 'over_limit', new: 'over_limit'}],
  ])('FR-WF-CCH-LRU-01 goes: %s', (_, {maxEntries = 100, maxBytes = 1000}, expected) => {
    const chosen = choosePrunable(FOUND, {maxEntries, maxBytes});
    expect(Object.fromEntries([...chosen].map(([{key}, reason]) => [key, reason]))).toEqual({
      ...ALWAYS,
      ...expected,
    });
  });

  test('FR-WF-CCH-LRU-01 what does not say when it was used goes first', () => {
    const chosen = choosePrunable([entry('old', 1), entry('silent', undefined)], {
      maxEntries: 1,
      maxBytes: 100,
    });
    expect([...chosen.keys()].map(({key}) => key)).toEqual(['silent']);
  });
});

const TIMES = {
  fetched_at: '2026-01-10T12:00:00.000Z',
  expires_at: '2026-01-17T12:00:00.000Z',
  last_accessed_at: '2026-01-10T14:30:00.000Z',
} as const;
const KEY = cacheKey(CACHE_URL, 'http');

/** A file with the text of an entry whose page has so many units. */
function written(
  units: number,
  change: (printed: string) => string = printed => printed,
  url = CACHE_URL,
): string {
  const path = join(temporaryDirectory(), 'entry.json');
  const entry = {canonical_url: url, rendering_method: 'http', ...TIMES, notes: []} as const;
  const printed = Buffer.from(printEntry({...entry, extracted: {markdown: 'x'.repeat(units)}})).toString();
  writeFileSync(path, change(printed));
  return path;
}

describe('ruling F4 what an entry says of itself', () => {
  const HEAD = {canonical_url: CACHE_URL, rendering_method: 'http', ...TIMES};

  test.each([10, 3600, 3700, 3800, 5000, 100_000])(
    'ruling F4 is told of one with a page of %i units',
    async units => {
      const path = written(units);
      const {ino, mtimeMs, size} = lstatSync(path);
      const found = await readEntryHead(path, KEY);
      expect(found).toMatchObject({head: HEAD, size, inode: ino, changedMs: mtimeMs});
    },
  );

  test('ruling F4 is told of a large one from its first bytes, whatever follows', async () => {
    const path = written(100_000, printed => `${printed.slice(0, 8000)}damaged`);
    expect((await readEntryHead(path, KEY))?.head).toEqual(HEAD);
  });

  test('ruling F4 is nothing of a small one whose end is damaged, up to 4096 bytes', async () => {
    const {size} = lstatSync(written(0));
    for (const units of [10, 4096 - size]) {
      const path = written(units, printed => `${printed.slice(0, -1)}]`);
      expect((await readEntryHead(path, KEY))?.head).toBeUndefined();
    }
    const larger = written(4097 - size, printed => `${printed.slice(0, -1)}]`);
    expect((await readEntryHead(larger, KEY))?.head).toEqual(HEAD);
  });

  test('ruling F4 is told of a browser entry as such', async () => {
    const path = written(10_000, printed => printed.replace('"http"', '"browser"'));
    const found = await readEntryHead(path, cacheKey(CACHE_URL, 'browser'));
    expect(found?.head).toEqual({...HEAD, rendering_method: 'browser'});
  });

  test.each<[string, (printed: string) => string]>([
    ['another key', printed => printed.replace('example.com', 'example.org')],
    ['another method', printed => printed.replace('"http"', '"browser"')],
    ['an unknown method', printed => printed.replace('"http"', '"gopher"')],
    ['another version', printed => printed.replace('"version":2', '"version":3')],
    ['a month that is none', printed => printed.replace('2026-01-10T12', '2026-13-10T12')],
    ['a last month that is none', printed => printed.replace('2026-01-10T14', '2026-13-10T14')],
    ['a time in words', printed => printed.replace('2026-01-17T12:00:00.000Z', 'tomorrow')],
    ['an escape that JSON does not have', printed => printed.replace('example.com', 'example\\.com')],
    ['a control character', printed => printed.replace('example.com', 'example\u0001.com')],
    ['something before it', printed => ` ${printed.slice(0, -1)}`],
    ['nothing but zeros', printed => '\0'.repeat(printed.length)],
  ])('ruling F4 is nothing where there is %s, in a large entry and in a small one', async (_, change) => {
    for (const units of [10, 10_000]) {
      const path = written(units, change);
      expect(await readEntryHead(path, KEY)).toMatchObject({head: undefined, size: lstatSync(path).size});
    }
  });

  test('ruling F4 is read from the whole where its fields are in another order', async () => {
    const path = written(10_000, printed => JSON.stringify({last: 1, ...(JSON.parse(printed) as object)}));
    expect((await readEntryHead(path, KEY))?.head).toMatchObject(HEAD);
  });

  test('ruling F4 is nothing of what is no file, and of what is gone', async () => {
    const directory = temporaryDirectory();
    symlinkSync('/etc/hostname', join(directory, 'link'));
    const unreadable = {head: undefined, size: 0, inode: 0, changedMs: 0};
    expect(await readEntryHead(join(directory, 'link'), KEY)).toEqual(unreadable);
    expect(await readEntryHead(directory, KEY)).toEqual(unreadable);
    expect(await readEntryHead(join(directory, 'gone'), KEY)).toBeUndefined();
  });
});

describe('FR-WF-CCH-LRU-01 when an entry was last used', () => {
  const USED = Date.parse(TIMES.last_accessed_at);
  const LIMIT = 2 ** 20;

  test.each([10, 3600, 3700, 3800, 100_000])(
    'FR-WF-CCH-LRU-01 is read of one with a page of %i units',
    async units => {
      expect(await readLastAccess(written(units), KEY, LIMIT)).toBe(USED);
    },
  );

  test('FR-WF-CCH-LRU-01 is read behind a very long URL too, up to the limit of a file', async () => {
    const url = `https://example.com/${'u'.repeat(8000)}`;
    const path = written(10, undefined, url);
    const {size} = lstatSync(path);
    expect(await readLastAccess(path, cacheKey(url, 'http'), size)).toBe(USED);
    expect(await readLastAccess(path, cacheKey(url, 'http'), size - 1)).toBe(0);
  });

  test('FR-WF-CCH-LRU-01 is long ago where it is not said, so that the entry goes first', async () => {
    const directory = temporaryDirectory();
    symlinkSync('/etc/hostname', join(directory, 'link'));
    for (const path of [
      written(10, () => ''),
      written(10, printed => printed.replace('last_accessed_at', 'last')),
      written(10, printed => printed.replace('2026-01-10T14:30:00.000Z', 'never')),
      written(10_000, () => 'x'.repeat(10_000)),
      directory,
      join(directory, 'link'),
    ]) {
      expect([path, await readLastAccess(path, KEY, LIMIT)]).toEqual([path, 0]);
    }
    expect(await readLastAccess(join(directory, 'gone'), KEY, LIMIT)).toBeUndefined();
  });
});

describe('policy: an entry that is to be removed', () => {
  const scanned = (path: string) => {
    const {ino, mtimeMs, size} = lstatSync(path);
    return {path, key: KEY, page: undefined, head: undefined, size, inode: ino, changedMs: mtimeMs};
  };

  test('policy: goes where it is the one that was looked at', async () => {
    const path = written(10);
    expect(await removeEntry(scanned(path))).toBe('removed');
    expect(readdirSync(dirname(path))).toEqual([]);
    expect(await removeEntry({...scanned(written(10)), path})).toBe('kept');
  });

  test('policy: stays where another one has taken its place, or it was written again', async () => {
    const path = written(10);
    const looked = scanned(path);
    utimesSync(path, 1, 1);
    expect(await removeEntry(looked)).toBe('kept');
    expect(await removeEntry({...scanned(path), inode: looked.inode + 1})).toBe('kept');
    expect(await removeEntry({...looked, inode: 0, changedMs: 0})).toBe('removed');
  });

  test('policy: is refused where the system does not let it go', async () => {
    const path = temporaryDirectory();
    expect(await removeEntry(scanned(path))).toBe('refused');
    expect(readdirSync(path)).toEqual([]);
  });
});

describe('ruling F6 what is listed of a cache', () => {
  const HOUR = 3_600_000;

  test('ruling F6 is the entries in their shards, with their sizes, and nothing else', async () => {
    const directory = temporaryDirectory();
    const put = (...parts: readonly string[]): void => {
      const path = join(directory, ...parts);
      mkdirSync(dirname(path), {recursive: true});
      writeFileSync(path, 'text');
    };
    const key = `ab${'0'.repeat(62)}`;
    put('ab', `${key}.json`);
    for (const name of [`x${key}.json`, `${key}.jsonx`, `${key}`, `cd${'0'.repeat(62)}.json`])
      put('ab', name);
    for (const shard of ['abc', 'AB', 'a', 'xab', 'notes']) put(shard, `${key}.json`);
    mkdirSync(join(directory, 'ab', `ab${'1'.repeat(62)}.json`));
    expect(await listEntries(directory, 0)).toEqual([{key, size: 4}]);
    expect(await listEntries(join(directory, 'missing'), 0)).toEqual([]);
  });

  test('ruling F6 clears away what writers left that died more than an hour ago, and no file of another name', async () => {
    const directory = temporaryDirectory();
    const key = `ab${'0'.repeat(62)}`;
    mkdirSync(join(directory, 'ab'));
    const names = [
      `ab/${key}.tmp.0123abcd`,
      'changes.tmp.0123abcd',
      `ab/x${key}.tmp.0123abcd`,
      `ab/${key}.tmp.0123abcd.txt`,
      'my changes.tmp.0123abcd',
    ];
    for (const name of names) writeFileSync(join(directory, name), '');
    const {mtimeMs} = lstatSync(join(directory, names[0] as string));
    for (const name of names) utimesSync(join(directory, name), mtimeMs / 1000, mtimeMs / 1000);
    const left = (): string[] =>
      names.filter(name => lstatSync(join(directory, name), {throwIfNoEntry: false}));
    const changed = lstatSync(join(directory, names[0] as string)).mtimeMs;
    await listEntries(directory, changed + HOUR);
    expect(left()).toEqual(names);
    await listEntries(directory, changed + HOUR + 1);
    expect(left()).toEqual(names.slice(2));
  });
});

describe('policy: a file of the cache', () => {
  test('policy: is read whole up to the limit; above it nothing, or its head', async () => {
    const path = join(temporaryDirectory(), 'file');
    writeFileSync(path, 'text');
    const read = async (most: number, larger?: 'head') => {
      const found = await readFile(path, most, larger);
      return [found?.bytes.toString(), found?.size];
    };
    expect(await read(4)).toEqual(['text', 4]);
    expect(await read(3)).toEqual(['', 4]);
    expect(await read(3, 'head')).toEqual(['tex', 4]);
    expect(await read(4, 'head')).toEqual(['text', 4]);
  });
});
