import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import {dirname, join} from 'node:path';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {CACHE_URL, diskCacheFixture} from '../../../test/support/disk-cache-fixture.ts';
import {needs} from '../../../test/support/parts.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {openCacheManager} from './admin.ts';
import type {DiskCache} from './disk-cache.ts';
import {pageAddress} from './entry.ts';
import {cacheKey} from './files.ts';
import {ChangeJournal, LruIndex} from './index.ts';

interface Known {
  readonly size: number;
  readonly date: number | undefined;
}

function oldestOf(model: ReadonlyMap<string, Known>): string | undefined {
  const dated = [...model].flatMap(([key, {date}]) => (date === undefined ? [] : [{key, date}]));
  return dated.sort((one, other) => one.date - other.date || (one.key < other.key ? -1 : 1))[0]?.key;
}

test('FR-WF-CCH-LRU-01 agrees with sorting everything, whatever was done', () => {
  const key = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const step = fc.oneof(
    fc.record({key, size: fc.nat(9), date: fc.option(fc.nat(9), {nil: undefined})}),
    fc.record({key, size: fc.constant(-1), date: fc.constant(undefined)}),
  );
  fc.assert(
    fc.property(fc.array(step, {maxLength: 300}), steps => {
      const index = new LruIndex();
      const model = new Map<string, Known>();
      for (const {key: name, size, date} of steps) {
        if (size < 0) {
          index.delete(name);
          model.delete(name);
        } else {
          index.set(name, size, date);
          model.set(name, {size, date});
        }
        const bytes = [...model.values()].reduce((sum, known) => sum + known.size, 0);
        const undated = [...model].filter(([, known]) => known.date === undefined).map(([each]) => each);
        expect([index.oldest(), index.count, index.bytes]).toEqual([oldestOf(model), model.size, bytes]);
        expect([...index.undated()].sort()).toEqual(undated.sort());
      }
    }),
    {numRuns: 60},
  );
});

test('ruling F6 hits without end do not grow it', () => {
  const index = new LruIndex();
  for (let date = 0; date < 100_000; date += 1) index.set(`${date % 50}`, 1, date);
  expect(index.count).toBe(50);
  for (let gone = 0; gone < 50; gone += 1) {
    expect(index.oldest()).toBe(`${gone}`);
    index.delete(`${gone}`);
  }
  expect([index.oldest(), index.bytes]).toEqual([undefined, 0]);
});

const RENEW = 1_048_576;
const key = (digit: string): string => digit.repeat(64);

test('ruling F6 a writer hears of what others noted, once, and not of itself', async () => {
  const directory = temporaryDirectory();
  const [one, other] = [new ChangeJournal(directory), new ChangeJournal(directory)];
  expect(await one.news()).toBeUndefined();
  expect(await other.news()).toBeUndefined();
  await one.note(key('a'));
  await one.note(key('b'));
  await other.note(key('c'));
  expect(await other.news()).toEqual(new Set([key('a'), key('b')]));
  expect(await other.news()).toEqual(new Set());
  expect(await one.news()).toEqual(new Set([key('c')]));
});

test('ruling F6 half a line is read when it is whole, and rubbish never', async () => {
  const directory = temporaryDirectory();
  const journal = new ChangeJournal(directory);
  await journal.news();
  const path = join(directory, 'changes.log');
  appendFileSync(path, `rubbish\n0123abcd ../../etc/passwd\n0123abcd ${key('d').slice(9)}`);
  expect(await journal.news()).toEqual(new Set());
  appendFileSync(path, `${key('d').slice(0, 9)}\n`);
  expect(await journal.news()).toEqual(new Set([key('d')]));
});

test('ruling F6 a journal that was lost is begun anew, and the reader knows that it missed something', async () => {
  const directory = temporaryDirectory();
  const [one, other] = [new ChangeJournal(directory), new ChangeJournal(directory)];
  await one.news();
  await other.news();
  rmSync(join(directory, 'changes.log'));
  await expect(one.note(key('a'))).rejects.toThrow('ENOENT');
  expect(await one.news()).toBeUndefined();
  await one.note(key('b'));
  expect(await other.news()).toBeUndefined();
  expect(await other.news()).toEqual(new Set());
});

test('ruling F6 a journal of the same name that has become shorter is one of which something was missed', async () => {
  const directory = temporaryDirectory();
  const [one, other] = [new ChangeJournal(directory), new ChangeJournal(directory)];
  await one.news();
  await other.note(key('a'));
  const path = join(directory, 'changes.log');
  const size = statSync(path).size;
  expect(await one.news()).toEqual(new Set([key('a')]));
  truncateSync(path, size - 1);
  expect(await one.news()).toBeUndefined();
});

test.each([
  ['up to 1 MiB', 0, false],
  ['above 1 MiB', 1, true],
])('ruling F6 a journal of %s is read; above that it is begun anew', async (_, more, anew) => {
  const directory = temporaryDirectory();
  const [one, other] = [new ChangeJournal(directory), new ChangeJournal(directory)];
  await one.news();
  await other.news();
  await other.note(key('a'));
  const path = join(directory, 'changes.log');
  appendFileSync(path, `${'x'.repeat(RENEW + more - statSync(path).size - 1)}\n`);
  expect(await one.news()).toEqual(new Set([key('a')]));
  expect(statSync(path).size < 100).toBe(anew);
});

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

describe('making room', () => {
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

    test('policy: nothing of the directory stays open', needs('Linux'), async () => {
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
});
