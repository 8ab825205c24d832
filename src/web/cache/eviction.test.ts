import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import {dirname, join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {diskCacheFixture} from '../../../test/support/disk-cache-fixture.ts';
import {cacheKey} from './cache-key.ts';
import type {DiskCache} from './disk-cache.ts';

const url = (name: number | string): string => `https://example.com/${name}`;
const numbers = (count: number): number[] => Array.from({length: count}, (_, at) => at);

/** Which of the pages are cached, looked up without touching them. */
function kept(fixture: ReturnType<typeof diskCacheFixture>, names: readonly (number | string)[]) {
  const files = new Set(fixture.files());
  return names.filter(name => {
    const key = cacheKey(url(name), 'http');
    return files.has(`${key.slice(0, 2)}/${key}.json`);
  });
}

describe('one process', () => {
  test('T-WF-CCH-06 the least recently used entry goes when the limit is reached', async () => {
    const fixture = diskCacheFixture({maxEntries: 3});
    const {cache, page, clock} = fixture;
    for (const name of ['a', 'b', 'c']) {
      await cache.write(page(url(name)));
      clock.advance(1000);
    }
    await cache.read(url('a'), 'http');
    clock.advance(1000);
    await cache.write(page(url('d')));
    expect(kept(fixture, ['a', 'b', 'c', 'd'])).toEqual(['a', 'c', 'd']);
    // Writing over an entry takes no room.
    await cache.write(page(url('a')));
    expect(kept(fixture, ['a', 'b', 'c', 'd'])).toEqual(['a', 'c', 'd']);
  });

  test('T-WF-CCH-06 a new process takes the order from the entries', async () => {
    const fixture = diskCacheFixture({maxEntries: 3});
    const {cache, page, clock, again, pathOf} = fixture;
    for (const name of ['a', 'b', 'c']) await cache.write(page(url(name)));
    clock.advance(1000);
    await cache.read(url('b'), 'http');
    clock.advance(1000);
    await cache.read(url('a'), 'http');
    // The times of the files say otherwise, and do not count.
    for (const [name, time] of [
      ['a', 1],
      ['b', 2],
      ['c', 3],
    ] as const)
      utimesSync(pathOf(url(name)), time, time);
    await again().write(page(url('d')));
    expect(kept(fixture, ['a', 'b', 'c', 'd'])).toEqual(['a', 'b', 'd']);
    await again({maxEntries: 1}).write(page(url('e')));
    expect(kept(fixture, ['a', 'b', 'c', 'd', 'e'])).toEqual(['e']);
  });

  test('FR-WF-CCH-LRU-01 ties are broken by key', async () => {
    const fixture = diskCacheFixture({maxEntries: 5});
    const {cache, page} = fixture;
    const names = numbers(6);
    for (const name of names) await cache.write(page(url(name)));
    const byKey = names
      .slice(0, 5)
      .sort((one, other) => (cacheKey(url(one), 'http') < cacheKey(url(other), 'http') ? -1 : 1));
    expect(names.filter(name => !kept(fixture, names).includes(name))).toEqual(byKey.slice(0, 1));
  });

  test('FR-WF-16f entries go until the bytes fit', async () => {
    const fixture = diskCacheFixture({maxBytes: 10_000});
    const {cache, page, clock} = fixture;
    const write = async (name: string, length: number): Promise<void> => {
      clock.advance(1000);
      expect(await cache.write(page(url(name), {extracted: {markdown: 'x'.repeat(length)}}))).toBe(true);
    };
    for (const name of ['a', 'b', 'c']) await write(name, 2500);
    expect(kept(fixture, ['a', 'b', 'c'])).toEqual(['a', 'b', 'c']);
    await write('d', 5000);
    expect(kept(fixture, ['a', 'b', 'c', 'd'])).toEqual(['c', 'd']);
    await write('c', 4000);
    expect(kept(fixture, ['a', 'b', 'c', 'd'])).toEqual(['c', 'd']);
  });

  test('FR-WF-16e what is no entry goes first', async () => {
    const fixture = diskCacheFixture({maxEntries: 3});
    const {cache, page, clock, pathOf, again} = fixture;
    for (const name of ['a', 'b', 'c']) {
      await cache.write(page(url(name)));
      clock.advance(1000);
    }
    writeFileSync(pathOf(url('c')), 'rubbish');
    await again().write(page(url('d')));
    expect(kept(fixture, ['a', 'b', 'c', 'd'])).toEqual(['a', 'b', 'd']);
  });

  test('a very long URL hides no time of access', async () => {
    const fixture = diskCacheFixture({maxEntries: 2});
    const {cache, page, clock, again} = fixture;
    const long = 'x'.repeat(9000);
    await cache.write(page(url('a')));
    clock.advance(1000);
    await cache.write(page(url(long)));
    await again().write(page(url('b')));
    expect(kept(fixture, ['a', long, 'b'])).toEqual([long, 'b']);
  });

  test('ruling F6 after the first write the directory is not listed again', async () => {
    const fixture = diskCacheFixture({maxEntries: 3});
    const {cache, page, pathOf} = fixture;
    await cache.write(page(url('a')));
    for (const name of ['x', 'y', 'z']) {
      mkdirSync(dirname(pathOf(url(name))), {recursive: true});
      copyFileSync(pathOf(url('a')), pathOf(url(name)));
    }
    await cache.write(page(url('b')));
    expect(kept(fixture, ['a', 'b', 'x', 'y', 'z'])).toEqual(['a', 'b', 'x', 'y', 'z']);
  });

  test('FR-WF-16g what dead writers left is cleared away', async () => {
    const {cache, page, directory, clock, files} = diskCacheFixture();
    const key = cacheKey(url('dead'), 'http');
    mkdirSync(join(directory, key.slice(0, 2)), {recursive: true, mode: 0o700});
    const [old, fresh] = ['aaaa', 'bbbb'].map(random =>
      join(directory, key.slice(0, 2), `${key}.tmp.${random}`),
    );
    for (const [path = '', age] of [
      [old, 3601],
      [fresh, 1],
    ] as const) {
      writeFileSync(path, '{');
      utimesSync(path, clock.now() / 1000 - age, clock.now() / 1000 - age);
    }
    await cache.write(page());
    expect(files().filter(path => path.includes('.tmp.'))).toEqual([fresh?.slice(directory.length + 1)]);
  });

  test('FR-WF-16g what died while it began a journal is cleared away too', async () => {
    const {cache, page, directory, clock, files} = diskCacheFixture();
    mkdirSync(directory, {mode: 0o700});
    writeFileSync(join(directory, 'changes.tmp.aaaa'), 'x');
    utimesSync(join(directory, 'changes.tmp.aaaa'), clock.now() / 1000 - 3601, clock.now() / 1000 - 3601);
    await cache.write(page());
    expect(files().filter(path => path.includes('.tmp.'))).toEqual([]);
  });

  test('the directory may vanish at any time', async () => {
    const {cache, page, directory, files} = diskCacheFixture();
    await cache.write(page(url('a')));
    rmSync(directory, {recursive: true});
    expect(await cache.read(url('a'), 'http')).toBeUndefined();
    expect(await cache.write(page(url('b')))).toBe(true);
    expect(await cache.read(url('b'), 'http')).toBeDefined();
    expect(files().length).toBe(1);
  });
});

describe('several processes', () => {
  test('ruling F6 what another process has used stays', async () => {
    const fixture = diskCacheFixture({maxEntries: 3});
    const {cache, page, clock, again} = fixture;
    for (const name of ['a', 'b', 'c']) {
      await cache.write(page(url(name)));
      clock.advance(1000);
    }
    await again().read(url('a'), 'http');
    clock.advance(1000);
    await cache.write(page(url('d')));
    expect(kept(fixture, ['a', 'b', 'c', 'd'])).toEqual(['a', 'c', 'd']);
  });

  test('ruling F6 what another process wrote or removed is counted', async () => {
    const fixture = diskCacheFixture({maxEntries: 2});
    const {cache, page, clock, again} = fixture;
    const other = again();
    for (const [one, name] of [
      [cache, 'a'],
      [other, 'b'],
      [cache, 'c'],
      [other, 'd'],
    ] as const) {
      clock.advance(1000);
      await one.write(page(url(name)));
    }
    expect(kept(fixture, ['a', 'b', 'c', 'd'])).toEqual(['c', 'd']);
  });

  test('ruling F6 writers that take turns keep the limit exactly', {tags: 'slow'}, async () => {
    const fixture = diskCacheFixture({maxEntries: 10});
    const caches: DiskCache[] = [fixture.cache, fixture.again(), fixture.again()];
    for (const turn of numbers(60)) {
      fixture.clock.advance(10);
      await caches[turn % 3]?.write(fixture.page(url(turn)));
      expect(fixture.files().length).toBeLessThanOrEqual(10);
    }
    expect(kept(fixture, numbers(60))).toEqual(numbers(60).slice(50));
  });

  test('ruling F6 writers at the same instant exceed the limit by one each at most, until the next write', {
    tags: 'slow',
  }, async () => {
    const fixture = diskCacheFixture({maxEntries: 10});
    const caches: DiskCache[] = [fixture.cache, fixture.again(), fixture.again()];
    await Promise.all(
      caches.map(async (cache, own) => {
        for (const turn of numbers(40)) {
          await cache.write(fixture.page(url(`${own}-${turn}`)));
          expect(fixture.files().filter(path => path.endsWith('.json')).length).toBeLessThanOrEqual(12);
        }
      }),
    );
    await fixture.cache.write(fixture.page(url('last')));
    expect(fixture.files().length).toBe(10);
    expect(fixture.log).toEqual([]);
  });

  test('ruling F6 the journal begins anew when it is long, and the others notice', async () => {
    const fixture = diskCacheFixture({maxEntries: 3});
    const {cache, page, clock, again, directory} = fixture;
    const other = again();
    await cache.write(page(url('a')));
    await other.write(page(url('b')));
    const journal = join(directory, 'changes.log');
    writeFileSync(journal, `${readFileSync(journal, 'utf8')}${'#'.repeat(1_100_000)}\n`);
    for (const name of ['c', 'd', 'e', 'f']) {
      clock.advance(10);
      await cache.write(page(url(name)));
    }
    expect(readFileSync(journal).length).toBeLessThan(1000);
    clock.advance(10);
    await other.write(page(url('g')));
    expect(kept(fixture, ['a', 'b', 'c', 'd', 'e', 'f', 'g'])).toEqual(['e', 'f', 'g']);
  });

  test('ruling F6 a hit does not bring back a page that has been replaced meanwhile', {
    tags: 'slow',
  }, async () => {
    const {cache, page, again} = diskCacheFixture();
    await cache.write(page());
    const other = again();
    for (const turn of numbers(20)) {
      const fresh = page(undefined, {extracted: {markdown: `fresh ${turn}`}});
      const {canonical_url} = fresh;
      await Promise.all([
        cache.read(canonical_url, 'http'),
        cache.read(canonical_url, 'http'),
        cache.write(fresh),
      ]);
      expect((await other.read(canonical_url, 'http'))?.extracted.markdown).toBe(`fresh ${turn}`);
    }
  });

  test.each([
    ['another file of the same time', 'rename'],
    ['the same file at another time', 'write'],
  ])('ruling F6 nor %s', async (_, by) => {
    const {cache, page, again, clock, pathOf, stored} = diskCacheFixture();
    const fresh = {canonical_url: url('a'), extracted: {markdown: 'fresh'}};
    await cache.write(page(url('a')));
    const path = pathOf(url('a'));
    utimesSync(path, 1000, 1000);
    const now = (): number => {
      const text = JSON.stringify({...stored(url('a')), ...fresh});
      if (by === 'rename') {
        writeFileSync(`${path}.new`, text);
        utimesSync(`${path}.new`, 1000, 1000);
        renameSync(`${path}.new`, path);
      } else {
        writeFileSync(path, text);
      }
      return clock.now();
    };
    await again({clock: {...clock, now}}).read(url('a'), 'http');
    expect(stored(url('a'))).toMatchObject(fresh);
  });

  test('ruling F6 a process that only finds pages does not list the directory', async () => {
    const {cache, page, again, directory} = diskCacheFixture();
    await cache.write(page(url('a')));
    rmSync(join(directory, 'changes.log'));
    const other = again();
    for (const _ of numbers(5)) expect(await other.read(url('a'), 'http')).toBeDefined();
    expect(existsSync(join(directory, 'changes.log'))).toBe(false);
    expect(await other.read(url('b'), 'http')).toBeUndefined();
    await expect.poll(() => existsSync(join(directory, 'changes.log'))).toBe(true);
  });

  test('ruling F6 nor one that another process replaced while it was read', async () => {
    const {cache, page, again, clock, pathOf, stored} = diskCacheFixture();
    const fresh = {canonical_url: url('a'), extracted: {markdown: 'fresh'}};
    await cache.write(page(url('a')));
    // The time is asked for after the entry was read, and before it is written back.
    const now = (): number => {
      const path = pathOf(url('a'));
      writeFileSync(`${path}.new`, JSON.stringify({...stored(url('a')), ...fresh}));
      renameSync(`${path}.new`, path);
      return clock.now();
    };
    const hit = await again({clock: {...clock, now}}).read(url('a'), 'http');
    expect(hit?.extracted.markdown).toContain('# Page');
    expect(stored(url('a'))).toMatchObject(fresh);
  });
});
