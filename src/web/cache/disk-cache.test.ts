import {createHash} from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import {dirname, join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {CACHE_URL, diskCacheFixture} from '../../../test/support/disk-cache-fixture.ts';
import {needs} from '../../../test/support/parts.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {cacheKey} from './files.ts';

const DAY_MS = 86_400_000;
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

test('policy: what a miss begins for the write that may follow has ended when the cache has settled', async () => {
  const {cache, directory} = diskCacheFixture();
  await cache.settled();
  expect(existsSync(directory)).toBe(false);
  await cache.read(CACHE_URL, 'http');
  await cache.settled();
  expect(readdirSync(directory)).toEqual(['changes.log']);
});

describe('keys', () => {
  test('T-WF-DET-01 the same URL gives the same key', () => {
    expect(cacheKey(CACHE_URL, 'http')).toBe(cacheKey(CACHE_URL, 'http'));
    expect(cacheKey('https://example.com/', 'http')).toBe(sha256('https://example.com/\nhttp'));
    expect(cacheKey('https://example.com/', 'browser')).toBe(sha256('https://example.com/\nbrowser'));
  });

  test('T-WF-CCH-04 HTTP and browser renderings have entries of their own', async () => {
    const {cache, page} = diskCacheFixture();
    await cache.write(page());
    expect(await cache.read(CACHE_URL, 'browser')).toBeUndefined();
    const rendered = {markdown: 'rendered'};
    await cache.write(page(CACHE_URL, {rendering_method: 'browser', origin: 'forced', extracted: rendered}));
    expect((await cache.read(CACHE_URL, 'browser'))?.extracted).toEqual(rendered);
    expect((await cache.read(CACHE_URL, 'http'))?.extracted.title).toBe('Page');
  });

  test('T-WF-CCH-05 paths are made of the hash alone', async () => {
    const {cache, page, files} = diskCacheFixture();
    await cache.write(page('https://example.com/../../%2e%2e/etc/passwd?a=/../b'));
    expect(files()).toEqual([expect.stringMatching(/^([0-9a-f]{2})\/\1[0-9a-f]{62}\.json$/)]);
  });
});

describe('hits and misses', () => {
  test('T-WF-CCH-01 a hit returns what was written, with the time of the fetch', async () => {
    const {cache, page, clock, again} = diskCacheFixture();
    const written = page();
    expect(await cache.write(written)).toBe(true);
    clock.advance(DAY_MS);
    for (const one of [cache, again()]) {
      expect(await one.read(CACHE_URL, 'http')).toEqual({
        ...written,
        fetched_at: '2026-01-10T12:00:00.000Z',
        expires_at: '2026-01-17T12:00:00.000Z',
        last_accessed_at: '2026-01-11T12:00:00.000Z',
      });
    }
    expect(await cache.read('https://example.com/other', 'http')).toBeUndefined();
  });

  test('T-WF-CCH-02 a fresh page replaces the entry there is', async () => {
    const {cache, page, files} = diskCacheFixture();
    await cache.write(page());
    await cache.write(page(CACHE_URL, {extracted: {markdown: 'fresh'}}));
    expect((await cache.read(CACHE_URL, 'http'))?.extracted).toEqual({markdown: 'fresh'});
    expect(files().length).toBe(1);
  });

  test('T-WF-CCH-03 an expired entry is a miss', async () => {
    const {cache, page, clock} = diskCacheFixture({ttlDays: 2});
    await cache.write(page());
    clock.advance(2 * DAY_MS);
    expect(await cache.read(CACHE_URL, 'http')).toBeDefined();
    clock.advance(1);
    expect(await cache.read(CACHE_URL, 'http')).toBeUndefined();
  });

  test('T-WF-CCH-07 the whole document is stored, not its chunks', async () => {
    const {cache, page, stored} = diskCacheFixture();
    const markdown = '# A\n\nText "quoted" \u2028 é 😀 \ud800\n\n'.repeat(500);
    await cache.write(page(CACHE_URL, {extracted: {markdown}}));
    expect((await cache.read(CACHE_URL, 'http'))?.extracted).toEqual({markdown});
    expect(stored()['extracted']).toEqual({markdown});
  });

  test('T-WF-CCH-08 a hit updates last_accessed_at and nothing else', async () => {
    const {cache, page, clock, stored, files} = diskCacheFixture();
    await cache.write(page());
    const before = stored();
    clock.advance(5000);
    await cache.read(CACHE_URL, 'http');
    expect(stored()).toEqual({...before, last_accessed_at: '2026-01-10T12:00:05.000Z'});
    expect(files().length).toBe(1);
  });

  test('FR-WF-16c an entry as the SRD prints it is a hit', async () => {
    const {cache, page, tamper, stored} = diskCacheFixture();
    await cache.write(page());
    tamper({
      fetched_at: '2026-01-10T11:00:00Z',
      expires_at: '2026-01-17T12:00:00Z',
      last_accessed_at: '2026-01-10T11:30:00Z',
    });
    expect((await cache.read(CACHE_URL, 'http'))?.fetched_at).toBe('2026-01-10T11:00:00Z');
    expect(stored()['last_accessed_at']).toBe('2026-01-10T12:00:00.000Z');
  });

  test('T-WF-CCH-09 another version is a miss, and is written over', async () => {
    const {cache, page, tamper} = diskCacheFixture();
    for (const version of [1, 3, '2', undefined]) {
      await cache.write(page());
      tamper({version});
      expect(await cache.read(CACHE_URL, 'http')).toBeUndefined();
    }
    await cache.write(page());
    expect(await cache.read(CACHE_URL, 'http')).toBeDefined();
  });

  test('ruling F3 what describes the content survives', async () => {
    const {cache, page} = diskCacheFixture();
    const conditions = {
      rendering_method: 'browser',
      origin: 'fallback',
      truncation_reason: 'browser_timeout_dom_partial',
      notes: ['browser_timeout_dom_partial', 'charset_fallback'],
    } as const;
    await cache.write(page(CACHE_URL, conditions));
    expect(await cache.read(CACHE_URL, 'browser')).toMatchObject(conditions);
  });

  test.each<[string, Record<string, unknown>]>([
    ['another URL', {canonical_url: 'https://example.com/other'}],
    ['another method', {rendering_method: 'browser'}],
    ['an unknown method', {rendering_method: 'telepathy'}],
    ['no document', {extracted: undefined}],
    ['a document of another type', {extracted: ['markdown']}],
    ['a title of another type', {extracted: {markdown: 'x', title: 1}}],
    ['a time that is none', {expires_at: 'tomorrow'}],
    ['a month that is none', {fetched_at: '2026-13-10T12:00:00Z'}],
    ['an unknown note', {notes: ['ignore_previous_instructions']}],
    ['an unknown reason', {truncation_reason: 'x'}],
    ['an unknown origin', {origin: 'x'}],
  ])('ruling F4 an entry with %s is a miss', async (_, fields) => {
    const {cache, page, tamper, log} = diskCacheFixture();
    await cache.write(page());
    tamper(fields);
    expect(await cache.read(CACHE_URL, 'http')).toBeUndefined();
    expect(log).toEqual([]);
    expect(await cache.write(page())).toBe(true);
    expect(await cache.read(CACHE_URL, 'http')).toBeDefined();
  });

  test('ruling F4 a file far larger than any page is a miss without being read', async () => {
    const {cache, page, pathOf} = diskCacheFixture();
    await cache.write(page());
    truncateSync(pathOf(), 2 ** 29);
    const before = process.memoryUsage().rss;
    expect(await cache.read(CACHE_URL, 'http')).toBeUndefined();
    expect(process.memoryUsage().rss - before).toBeLessThan(2 ** 27);
    expect(await cache.write(page())).toBe(true);
    expect(await cache.read(CACHE_URL, 'http')).toBeDefined();
  });

  test('ruling F4 what cannot be read is a miss and is logged, without the query', async () => {
    const {cache, page, pathOf, log} = diskCacheFixture();
    mkdirSync(dirname(pathOf()), {recursive: true});
    symlinkSync('/etc/hostname', pathOf());
    expect(await cache.read(CACHE_URL, 'http')).toBeUndefined();
    expect(log).toEqual([
      expect.objectContaining({
        level: 'warn',
        error_code: 'cache_read_failed',
        requested_host: 'example.com',
        rendering_method: 'http',
      }),
    ]);
    expect(JSON.stringify(log)).not.toContain('q=1');
    expect(await cache.write(page())).toBe(true);
  });

  test('ruling F5 an entry that another user left is a miss', needs('root'), async () => {
    const {cache, page, pathOf, log} = diskCacheFixture();
    await cache.write(page());
    chownSync(pathOf(), 65_534, 65_534);
    expect(await cache.read(CACHE_URL, 'http')).toBeUndefined();
    expect(await cache.write(page())).toBe(true);
    expect(await cache.read(CACHE_URL, 'http')).toBeDefined();
    expect(log).toEqual([]);
  });

  test('ruling F7 the directories are 0700 and the files 0600', async () => {
    const {cache, page, directory, pathOf} = diskCacheFixture();
    await cache.write(page());
    const mode = (path: string): number => statSync(path).mode & 0o777;
    expect([directory, dirname(pathOf()), pathOf()].map(mode)).toEqual([0o700, 0o700, 0o600]);
  });
});

describe('writes that fail', () => {
  test('T-WF-CCH-11 an entry above max_cache_bytes is not written, and removes nothing', async () => {
    const {cache, page, log, files} = diskCacheFixture({maxBytes: 2000});
    await cache.write(page('https://example.com/small'));
    expect(await cache.write(page(CACHE_URL, {extracted: {markdown: 'x'.repeat(2000)}}))).toBe(false);
    expect(log).toEqual([
      expect.objectContaining({level: 'warn', message: 'cache_write_failed: entry exceeds max_cache_bytes'}),
    ]);
    expect(files().length).toBe(1);
  });

  test('FR-WF-16h a failure is logged and reported, and leaves nothing behind', async () => {
    const {cache, page, pathOf, log, files} = diskCacheFixture();
    mkdirSync(dirname(dirname(pathOf())), {recursive: true, mode: 0o700});
    writeFileSync(dirname(pathOf()), 'a file where the directory should be');
    expect(await cache.write(page())).toBe(false);
    expect(log).toContainEqual(
      expect.objectContaining({message: 'cache_write_failed: ENOTDIR', requested_host: 'example.com'}),
    );
    expect(files()).toEqual([expect.stringMatching(/^..$/)]);
  });
});

describe('a cache that is off', () => {
  test.each([{directory: ''}, {maxEntries: 0}])(
    'FR-WF-CCH-ENABLE-01 %j neither reads nor writes nor warns',
    async settings => {
      const directory = join(temporaryDirectory(), 'cache');
      const {cache, page, log} = diskCacheFixture({directory, ...settings});
      expect(await cache.write(page())).toBe(true);
      expect(await cache.read(CACHE_URL, 'http')).toBeUndefined();
      expect(existsSync(directory)).toBe(false);
      expect(log).toEqual([]);
    },
  );

  const untrusted: Record<string, () => string> = {
    'is a symbolic link': () => {
      const base = temporaryDirectory();
      mkdirSync(join(base, 'real'));
      symlinkSync(join(base, 'real'), join(base, 'link'));
      return `${join(base, 'link')}/`;
    },
    'belongs to another user': () => {
      if (process.getuid?.() !== 0) return '/usr';
      const directory = temporaryDirectory();
      chownSync(directory, 12_345, 12_345);
      return directory;
    },
    'every user can write to': () => {
      const directory = temporaryDirectory();
      chmodSync(directory, 0o777);
      return directory;
    },
    'cannot be created': () => {
      const file = join(temporaryDirectory(), 'file');
      writeFileSync(file, '');
      return join(file, 'cache');
    },
  };
  test.each(Object.entries(untrusted))(
    'ruling F5 a directory that %s disables caching with one warning',
    async (why, make) => {
      const {cache, page, log} = diskCacheFixture({directory: make()});
      expect(await cache.write(page())).toBe(true);
      expect(await cache.write(page())).toBe(true);
      expect(await cache.read(CACHE_URL, 'http')).toBeUndefined();
      expect(log).toEqual([
        expect.objectContaining({
          level: 'warn',
          event: 'cache_disabled',
          message: expect.stringContaining(why),
        }),
      ]);
    },
  );

  test('conformance D6: a partial DOM is kept for an hour', async () => {
    const {cache, clock, page} = diskCacheFixture();
    await cache.write(page(CACHE_URL, {notes: ['browser_timeout_dom_partial']}));
    clock.advance(3_600_000);
    expect(await cache.read(CACHE_URL, 'http')).toBeDefined();
    clock.advance(1);
    expect(await cache.read(CACHE_URL, 'http')).toBeUndefined();
  });

  test('ruling F9: an entry is removed if it is one of those that are meant, and makes room', async () => {
    const {cache, page, files, log} = diskCacheFixture({maxEntries: 2});
    const other = `${CACHE_URL}&other`;
    await cache.write(page());
    await cache.write(page(other));
    await cache.remove(CACHE_URL, 'http', () => false);
    await cache.remove(CACHE_URL, 'browser', () => true);
    expect(files()).toHaveLength(2);
    await cache.remove(CACHE_URL, 'http', ({canonical_url}) => canonical_url === CACHE_URL);
    expect(await cache.read(CACHE_URL, 'http')).toBeUndefined();
    await cache.write(page(`${CACHE_URL}&third`));
    expect(await cache.read(other, 'http')).toBeDefined();
    expect(log).toEqual([]);
  });
});
