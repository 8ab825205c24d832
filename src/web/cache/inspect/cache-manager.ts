import {lstat, readdir, rm} from 'node:fs/promises';
import {join, resolve} from 'node:path';
import type {Clock} from '../../../core/clock.ts';
import {fail} from '../../../core/failure/fail.ts';
import type {Failure} from '../../../core/failure/failure.ts';
import {type Err, ok, type Result} from '../../../core/result.ts';
import {expectedErrorCode} from '../../../system/error-code.ts';
import type {RenderingMethod} from '../../page.ts';
import {cacheKey} from '../cache-key.ts';
import {type CacheEntry, LARGEST_ENTRY, parseEntry} from '../entry.ts';
import {entryPath} from '../entry-path.ts';
import {JOURNAL} from '../index/change-journal.ts';
import {openDirectory} from '../open-directory.ts';
import {readFile} from '../read-file.ts';
import {type CacheStats, cacheStats} from './cache-stats.ts';
import {choosePrunable, type PruneReason} from './prunable.ts';
import {removeEntry} from './remove-entry.ts';
import {type CachedPage, type ScannedEntry, scanEntries} from './scan-entries.ts';

export interface CacheManagerSettings {
  /** Expanded; empty for none. */
  readonly directory: string;
  readonly maxEntries: number;
  readonly maxBytes: number;
  readonly clock: Clock;
}

/** What a removal did. Bytes are those of files. */
export interface Removal {
  readonly removed: Readonly<Record<PruneReason, number>>;
  readonly removed_bytes: number;
  readonly kept: number;
  readonly kept_bytes: number;
  /** Files that the operating system did not let go. */
  readonly refused: number;
}

/**
 * The page cache as its owner sees it. Every answer is one look at the directory, which other processes may
 * use meanwhile; what is damaged in it is counted and never fails a command. Ruling F4: what cannot be read
 * at all is `cache_read_failed`.
 */
export interface CacheManager {
  readonly stats: () => Promise<Result<CacheStats>>;
  /** The page fetched last comes first. */
  readonly list: () => Promise<Result<readonly CachedPage[]>>;
  /** The entries of a canonical URL, expired ones too. Looking at them is no use of them. */
  readonly show: (url: string) => Promise<Result<readonly CacheEntry[]>>;
  /** Removes what no fetch would serve, and what exceeds the limits, the least recently used first. */
  readonly prune: () => Promise<Result<Removal>>;
  /** Removes every entry, and nothing else that may lie in the directory. */
  readonly clear: () => Promise<Result<Removal>>;
}

const METHODS: readonly RenderingMethod[] = ['http', 'browser'];

export function openCacheManager(settings: CacheManagerSettings): CacheManager {
  const {clock, maxEntries, maxBytes} = settings;
  const limits = {maxEntries, maxBytes};

  async function scan(): Promise<Result<readonly ScannedEntry[]>> {
    const directory = await findDirectory(settings.directory);
    if (!directory.ok) return directory;
    return ok(directory.value === undefined ? [] : await scanEntries(directory.value, clock.now()));
  }

  async function remove(choose: (found: readonly ScannedEntry[]) => Chosen): Promise<Result<Removal>> {
    const found = await scan();
    return found.ok ? ok(await removeAll(choose(found.value), found.value, settings)) : found;
  }

  return {
    async stats() {
      const found = await scan();
      return found.ok ? ok(cacheStats(resolve(settings.directory), found.value, limits)) : found;
    },
    async list() {
      const found = await scan();
      if (!found.ok) return found;
      const pages = found.value.flatMap(({page}) => page ?? []);
      return ok(pages.sort((a, b) => compare(b.fetched_at, a.fetched_at) || compare(a.url, b.url)));
    },
    async show(url) {
      const directory = await findDirectory(settings.directory);
      if (!directory.ok) return directory;
      if (directory.value === undefined) return ok([]);
      const entries: CacheEntry[] = [];
      for (const method of METHODS) {
        const entry = await readWhole(entryPath(directory.value, cacheKey(url, method)), maxBytes);
        if (!entry.ok) return entry;
        if (entry.value?.canonical_url === url && entry.value.rendering_method === method) {
          const {counts: _, ...page} = entry.value;
          entries.push(page);
        }
      }
      return ok(entries);
    },
    prune: () => remove(found => choosePrunable(found, limits)),
    clear: () => remove(found => new Map(found.map(entry => [entry, 'cleared'] as const))),
  };
}

type Chosen = ReadonlyMap<ScannedEntry, PruneReason>;

async function removeAll(
  chosen: Chosen,
  found: readonly ScannedEntry[],
  {directory}: CacheManagerSettings,
): Promise<Removal> {
  const removed = {expired: 0, unusable: 0, over_limit: 0, cleared: 0};
  let removed_bytes = 0;
  let refused = 0;
  for (const [entry, reason] of chosen) {
    const outcome = await removeEntry(entry);
    if (outcome === 'refused') refused += 1;
    if (outcome !== 'removed') continue;
    removed[reason] += 1;
    removed_bytes += entry.size;
  }
  const gone = Object.values(removed).reduce((sum, count) => sum + count, 0);
  // Processes that have counted the entries list the directory anew when they miss their journal.
  if (gone > 0) await rm(join(resolve(directory), JOURNAL)).catch(expectedErrorCode);
  const bytes = found.reduce((sum, entry) => sum + entry.size, 0);
  return {removed, removed_bytes, kept: found.length - gone, kept_bytes: bytes - removed_bytes, refused};
}

/** The directory if it can be trusted and read; `undefined` where nothing was cached yet. */
async function findDirectory(directory: string): Promise<Result<string | undefined>> {
  if (directory === '') {
    return fail(
      'cache_read_failed',
      'There is no page cache: tools.webfetch.cache_dir is empty. Set it to a directory of your own.',
      {path: '', error: 'disabled'},
    );
  }
  const path = resolve(directory);
  try {
    await lstat(path);
    const opened = await openDirectory(path);
    if ('problem' in opened) return unreadable(path, opened.problem);
    // The listing passes over what it cannot read; here that would look like an empty cache.
    await readdir(path);
    return ok(path);
  } catch (error) {
    const code = expectedErrorCode(error);
    return code === 'ENOENT' ? ok(undefined) : unreadable(path, code);
  }
}

async function readWhole(path: string, maxBytes: number): Promise<Result<CacheEntry | undefined>> {
  try {
    // What a fetch would not read either is no entry.
    const content = await readFile(path, Math.min(maxBytes, LARGEST_ENTRY));
    return ok(content && parseEntry(content.bytes));
  } catch (error) {
    const code = expectedErrorCode(error);
    return code === 'ENOENT' ? ok(undefined) : unreadable(path, code);
  }
}

function unreadable(path: string, reason: string): Err<Failure> {
  return fail(
    'cache_read_failed',
    `The page cache at ${path} cannot be used: ${reason}. Check its owner and permissions, or set tools.webfetch.cache_dir to a directory of your own.`,
    {path, error: reason},
  );
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
