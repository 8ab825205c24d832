import {lstatSync, mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {CACHE_URL} from '../../../../test/support/disk-cache-fixture.ts';
import {temporaryDirectory} from '../../../../test/support/temporary-directory.ts';
import {cacheKey} from '../cache-key.ts';
import {printEntry} from '../entry.ts';
import {listEntries} from '../index/list-entries.ts';
import {readLastAccess} from '../index/read-last-access.ts';
import {readFile} from '../read-file.ts';
import {readEntryHead} from './read-entry-head.ts';
import {removeEntry} from './remove-entry.ts';

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
      expect(await readLastAccess(written(units), LIMIT)).toBe(USED);
    },
  );

  test('FR-WF-CCH-LRU-01 is read behind a very long URL too, up to the limit of a file', async () => {
    const path = written(10, undefined, `https://example.com/${'u'.repeat(8000)}`);
    const {size} = lstatSync(path);
    expect(await readLastAccess(path, size)).toBe(USED);
    expect(await readLastAccess(path, size - 1)).toBe(0);
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
      expect([path, await readLastAccess(path, LIMIT)]).toEqual([path, 0]);
    }
    expect(await readLastAccess(join(directory, 'gone'), LIMIT)).toBeUndefined();
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
