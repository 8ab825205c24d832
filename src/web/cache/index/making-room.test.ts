import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import {dirname, join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {CACHE_URL, diskCacheFixture} from '../../../../test/support/disk-cache-fixture.ts';
import {temporaryDirectory} from '../../../../test/support/temporary-directory.ts';
import {openCacheManager} from '../inspect/cache-manager.ts';
import {pageAddress} from '../page-address.ts';
import {ChangeJournal} from './change-journal.ts';
import {LruIndex} from './lru-index.ts';

const url = (name: string): string => `https://${name}.example/page`;

describe('FR-WF-16f the limit in bytes', () => {
  test('FR-WF-16f is reached by entries that are as large together, and not above it', async () => {
    const {cache, page, pathOf, files, directory} = diskCacheFixture();
    await cache.write(page(url('a')));
    const {size} = lstatSync(pathOf(url('a')));
    for (const [maxBytes, left] of [
      [2 * size, 2],
      [2 * size - 1, 1],
    ] as const) {
      const {cache: limited, page: other} = diskCacheFixture({directory, maxBytes});
      for (const name of ['b', 'c']) await limited.write(other(url(name)));
      expect(files()).toHaveLength(left);
    }
  });

  test('T-WF-CCH-11 an entry of just max_cache_bytes is written and read', async () => {
    const {cache, page, pathOf, directory} = diskCacheFixture();
    await cache.write(page());
    const {size} = lstatSync(pathOf());
    for (const [maxBytes, kept] of [
      [size, true],
      [size - 1, false],
    ] as const) {
      const one = diskCacheFixture({directory, maxBytes});
      expect((await one.cache.read(CACHE_URL, 'http')) !== undefined).toBe(kept);
      expect(await one.cache.write(one.page())).toBe(kept);
    }
  });
});

describe('FR-WF-16h what cannot be done is said in the log', () => {
  test('FR-WF-16h a journal that cannot be written: with the reason, and the page is kept', async () => {
    const {cache, page, directory, log} = diskCacheFixture();
    mkdirSync(join(directory, 'changes.log'), {recursive: true, mode: 0o700});
    writeFileSync(join(directory, 'changes.log', 'file'), '');
    chmodSync(directory, 0o700);
    expect(await cache.write(page())).toBe(true);
    expect(log.length).toBeGreaterThan(1);
    for (const event of log) {
      const message = expect.stringMatching(/^cache_journal_failed: E[A-Z]+$/);
      expect(event).toEqual({level: 'warn', event: 'cache_journal_failed', message});
    }
    expect(await cache.read(CACHE_URL, 'http')).toBeDefined();
  });

  test('FR-WF-16h a journal that another process removed is no failure', async () => {
    const {cache, page, directory, log} = diskCacheFixture();
    await cache.write(page(url('a')));
    rmSync(join(directory, 'changes.log'));
    expect(await cache.write(page(url('b')))).toBe(true);
    expect(log).toEqual([]);
    expect(existsSync(join(directory, 'changes.log'))).toBe(true);
  });

  test('FR-WF-16h an entry that cannot be removed: with the reason, and the write goes on', async () => {
    const {cache, page, pathOf, directory, again, log} = diskCacheFixture({maxEntries: 1});
    await cache.write(page(url('a')));
    rmSync(pathOf(url('a')));
    // What the index takes for an entry and the system does not let go.
    mkdirSync(pathOf(url('a')));
    expect(await cache.write(page(url('b')))).toBe(true);
    expect(log).toEqual([
      {
        level: 'warn',
        event: 'cache_evict_failed',
        message: expect.stringMatching(/^cache_evict_failed: E[A-Z_]+$/),
      },
    ]);
    expect(await again().read(url('b'), 'http')).toBeDefined();
    expect(existsSync(directory)).toBe(true);
  });

  test('FR-WF-16h an entry that is gone already is no failure', async () => {
    const {cache, page, pathOf, files, log} = diskCacheFixture({maxEntries: 1});
    await cache.write(page(url('a')));
    rmSync(pathOf(url('a')));
    expect(await cache.write(page(url('b')))).toBe(true);
    expect([files().length, log]).toEqual([1, []]);
  });

  test.runIf(process.platform === 'linux')('policy: nothing of the directory stays open', async () => {
    const {cache, page, directory, again} = diskCacheFixture({maxEntries: 2});
    for (const name of ['a', 'b', 'c']) {
      await cache.write(page(url(name)));
      await cache.read(url(name), 'http');
    }
    await again().write(page(url('d')));
    const open = readdirSync('/proc/self/fd').flatMap(name => {
      try {
        return [readlinkSync(`/proc/self/fd/${name}`)];
      } catch {
        return [];
      }
    });
    expect(open.filter(path => path.startsWith(directory))).toEqual([]);
  });

  test('FR-WF-16h of a read that failed the whole event is logged; of an entry that is not there, none', async () => {
    const {cache, pathOf, log} = diskCacheFixture();
    expect(await cache.read(CACHE_URL, 'http')).toBeUndefined();
    expect(log).toEqual([]);
    mkdirSync(dirname(pathOf()), {recursive: true});
    symlinkSync('/etc/hostname', pathOf());
    expect(await cache.read(CACHE_URL, 'http')).toBeUndefined();
    expect(log).toEqual([
      {
        level: 'warn',
        event: 'cache_read_failed',
        message: 'cache_read_failed: ELOOP',
        requested_host: 'example.com',
        rendering_method: 'http',
        cache_hit: false,
        error_code: 'cache_read_failed',
      },
    ]);
  });
});

test('policy: what clearing removes is gone for a process that has counted it: the journal goes too', async () => {
  const {cache, page, directory, clock, files} = diskCacheFixture({maxEntries: 2});
  for (const name of ['a', 'b']) await cache.write(page(url(name)));
  const manager = openCacheManager({directory, maxEntries: 2, maxBytes: 2 ** 30, clock});
  await manager.clear();
  expect(existsSync(join(directory, 'changes.log'))).toBe(false);
  for (const name of ['c', 'd']) await cache.write(page(url(name)));
  expect(files()).toHaveLength(2);
  for (const name of ['c', 'd']) expect(await cache.read(url(name), 'http')).toBeDefined();
});

describe('FR-WF-CCH-LRU-01 the order in which entries go', () => {
  /** All keys, in the order in which they go. */
  function emptied(index: LruIndex): string[] {
    const keys: string[] = [];
    for (let key = index.oldest(); key !== undefined; key = index.oldest()) {
      keys.push(key);
      index.delete(key);
    }
    return keys;
  }

  test('FR-WF-CCH-LRU-01 is that of their use, also after so many hits that it is sorted anew', () => {
    const names = Array.from({length: 20}, (_, at) => `k${String(at).padStart(2, '0')}`);
    const others = names.slice(0, 19);
    for (let hits = 80; hits <= 130; hits += 1) {
      const index = new LruIndex();
      index.set('undated', 1);
      // The last of them came first, and goes last.
      for (const [at, name] of others.entries()) index.set(name, 1, 1000 - at);
      for (let hit = 0; hit < hits; hit += 1) index.set('k19', 1, hit);
      expect(emptied(index)).toEqual(['k19', ...others.toReversed()]);
      expect(index.undated()).toEqual(['undated']);
    }
  });

  test('FR-WF-CCH-LRU-01 is that of the keys where they were used at the same time', () => {
    const index = new LruIndex();
    for (const key of ['c', 'a', 'd', 'b']) index.set(key, 1, 5);
    expect(emptied(index)).toEqual(['a', 'b', 'c', 'd']);
  });

  test('ruling F6 an entry whose use is not known is none that goes', () => {
    const index = new LruIndex();
    index.set('a', 3);
    index.set('b', 4, 1);
    expect([index.oldest(), index.undated(), index.bytes]).toEqual(['b', ['a'], 7]);
    index.delete('b');
    index.delete('b');
    expect([index.oldest(), index.bytes, index.count]).toEqual([undefined, 3, 1]);
  });
});

describe('ruling F6 the journal', () => {
  const key = (digit: string): string => digit.repeat(64);

  test('ruling F6 has lines of one form, and what only ends or begins like one is none', async () => {
    const directory = temporaryDirectory();
    const journal = new ChangeJournal(directory);
    await journal.news();
    const path = join(directory, 'changes.log');
    appendFileSync(path, `x0123abcd ${key('a')}\n0123abcd ${key('b')}x\n0123abcd ${key('c')}\n`);
    expect(await journal.news()).toEqual(new Set([key('c')]));
  });

  test('ruling F6 of more than 2 MiB is not read, and begun anew', async () => {
    const directory = temporaryDirectory();
    const journal = new ChangeJournal(directory);
    await journal.news();
    const path = join(directory, 'changes.log');
    truncateSync(path, 2 * 1_048_576 + 1);
    expect(await journal.news()).toBeUndefined();
    expect(lstatSync(path).size).toBe(17);
  });

  test('ruling F6 without its whole name is begun anew', async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'changes.log'), '0123456789abcde');
    const journal = new ChangeJournal(directory);
    expect(await journal.news()).toBeUndefined();
    expect(await journal.news()).toEqual(new Set());
    expect(lstatSync(join(directory, 'changes.log')).size).toBe(17);
  });
});

test('ruling R3 a page that is kept for other terms has an address of its own', () => {
  expect(pageAddress('https://x/', '')).toBe('https://x/');
  expect(pageAddress('https://x/', 'pdf')).toBe('https://x/#pdf');
});
