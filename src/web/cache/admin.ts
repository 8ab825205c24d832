// The page cache for its owner: statistics, list, show, prune and clear.

import {lstat, readdir, rm, unlink} from 'node:fs/promises';
import {join, resolve} from 'node:path';
import type {Clock} from '../../core/clock.ts';
import {type Err, type Failure, fail, ok, type Result} from '../../core/result.ts';
import {toUrl} from '../../core/text/parse.ts';
import {expectedErrorCode} from '../../system/errors.ts';
import type {RenderingMethod} from '../page.ts';
import {type CacheEntry, LARGEST_ENTRY, METHODS, parseEntry} from './entry.ts';
import {cacheKey, entryPath, openDirectory, readFile} from './files.ts';
import {eachOf, type FoundHead, JOURNAL, LOOKS_AT_ONCE, listEntries, readEntryHead} from './index.ts';

interface CacheManagerSettings {
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
          const {plan: _, ...page} = entry.value;
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

interface HostStats {
  readonly host: string;
  readonly entries: number;
  readonly bytes: number;
}

/** Bytes are those of files. Times are RFC 3339 UTC, `null` where there is no page. */
export interface CacheStats {
  readonly directory: string;
  readonly entries: number;
  readonly bytes: number;
  readonly max_entries: number;
  readonly max_bytes: number;
  readonly fresh: number;
  readonly stale: number;
  /** Files that no fetch would serve: damaged, of another version, or under a wrong name. */
  readonly unusable: number;
  /** When the first and the last of the pages were fetched. */
  readonly oldest: string | null;
  readonly newest: string | null;
  /** The host with the most pages comes first. */
  readonly hosts: readonly HostStats[];
}

export function cacheStats(
  directory: string,
  found: readonly ScannedEntry[],
  limits: {readonly maxEntries: number; readonly maxBytes: number},
): CacheStats {
  const hosts = new Map<string, {entries: number; bytes: number}>();
  let bytes = 0;
  let fresh = 0;
  let stale = 0;
  let oldest: string | null = null;
  let newest: string | null = null;
  for (const {page, size} of found) {
    bytes += size;
    if (!page) continue;
    if (page.fresh) fresh += 1;
    else stale += 1;
    if (oldest === null || page.fetched_at < oldest) oldest = page.fetched_at;
    if (newest === null || page.fetched_at > newest) newest = page.fetched_at;
    // The key says that the URL is the one that was written, not that anybody checked it.
    const host = toUrl(page.url)?.host ?? '?';
    const sum = hosts.get(host) ?? {entries: 0, bytes: 0};
    hosts.set(host, {entries: sum.entries + 1, bytes: sum.bytes + size});
  }
  return {
    directory,
    entries: found.length,
    bytes,
    max_entries: limits.maxEntries,
    max_bytes: limits.maxBytes,
    fresh,
    stale,
    unusable: found.length - fresh - stale,
    oldest,
    newest,
    hosts: [...hosts]
      .map(([host, sum]) => ({host, ...sum}))
      .sort((a, b) => b.entries - a.entries || b.bytes - a.bytes || (a.host < b.host ? -1 : 1)),
  };
}

/** Why an entry goes. `unusable`: no fetch would serve it. */
type PruneReason = 'expired' | 'unusable' | 'over_limit' | 'cleared';

/** What no fetch would serve, and of the rest what exceeds the limits: FR-WF-16d to FR-WF-16f, at once. */
export function choosePrunable(
  found: readonly ScannedEntry[],
  {maxEntries, maxBytes}: {readonly maxEntries: number; readonly maxBytes: number},
): ReadonlyMap<ScannedEntry, PruneReason> {
  const chosen = new Map<ScannedEntry, PruneReason>();
  const kept: ScannedEntry[] = [];
  for (const entry of found) {
    if (!entry.page) chosen.set(entry, 'unusable');
    else if (!entry.page.fresh) chosen.set(entry, 'expired');
    else kept.push(entry);
  }
  let count = kept.length;
  let bytes = kept.reduce((sum, {size}) => sum + size, 0);
  // FR-WF-CCH-LRU-01: the least recently used first; ties go by key.
  for (const entry of kept.sort(byLastAccess)) {
    if (count <= maxEntries && bytes <= maxBytes) break;
    chosen.set(entry, 'over_limit');
    count -= 1;
    bytes -= entry.size;
  }
  return chosen;
}

function byLastAccess(one: ScannedEntry, other: ScannedEntry): number {
  const difference = lastAccess(one) - lastAccess(other);
  return difference !== 0 ? difference : one.key < other.key ? -1 : 1;
}

function lastAccess({page}: ScannedEntry): number {
  return Date.parse(page?.last_accessed_at ?? '') || 0;
}

/**
 * Removes an entry that was looked at, unless another process has replaced it since: that one is a new
 * page. `refused` if the file system does not let it go.
 */
export async function removeEntry({
  path,
  inode,
  changedMs,
}: ScannedEntry): Promise<'removed' | 'kept' | 'refused'> {
  try {
    const now = await lstat(path);
    // Without an inode it could not be read; then whatever stands there is what was meant.
    if (inode !== 0 && (now.ino !== inode || now.mtimeMs !== changedMs)) return 'kept';
    await unlink(path);
    return 'removed';
  } catch (error) {
    return expectedErrorCode(error) === 'ENOENT' ? 'kept' : 'refused';
  }
}

/** An entry as the cache commands show it. Times are RFC 3339 UTC. */
export interface CachedPage {
  readonly url: string;
  readonly rendering_method: RenderingMethod;
  readonly fetched_at: string;
  readonly expires_at: string;
  readonly last_accessed_at: string;
  /** Of the file. */
  readonly bytes: number;
  /** It has not expired, so a fetch is answered with it. */
  readonly fresh: boolean;
}

export interface ScannedEntry extends FoundHead {
  readonly key: string;
  readonly path: string;
  /** `undefined` for a file that no fetch would serve: damaged, of another version, or under a wrong name. */
  readonly page: CachedPage | undefined;
}

/** Looks into every entry below the directory, at its first bytes only. Other processes may use it meanwhile. */
async function scanEntries(directory: string, now: number): Promise<readonly ScannedEntry[]> {
  const scanned: ScannedEntry[] = [];
  await eachOf(await listEntries(directory, now), LOOKS_AT_ONCE, async one => {
    const path = entryPath(directory, one.key);
    const found = await readEntryHead(path, one.key);
    // Gone since it was listed.
    if (!found) return;
    const size = found.size || one.size;
    scanned.push({...found, size, key: one.key, path, page: pageOf({...found, size}, now)});
  });
  return scanned;
}

function pageOf({head, size}: FoundHead, now: number): CachedPage | undefined {
  if (!head) return undefined;
  const {canonical_url: url, ...rest} = head;
  const {rendering_method, fetched_at, expires_at, last_accessed_at} = rest;
  const fresh = Date.parse(expires_at) >= now;
  return {url, rendering_method, fetched_at, expires_at, last_accessed_at, bytes: size, fresh};
}
