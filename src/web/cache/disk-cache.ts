// The page cache of the pipeline: reads, writes and removes entries in a directory that processes share.

import {lstat, unlink} from 'node:fs/promises';
import {type Clock, timestamp} from '../../core/clock.ts';
import type {Log} from '../../core/log.ts';
import {expectedErrorCode} from '../../system/errors.ts';
import type {RenderingMethod} from '../page.ts';
import {
  type CacheEntry,
  expiryOf,
  LARGEST_ENTRY,
  type NewCacheEntry,
  parseEntry,
  printEntryInParts,
  touchEntry,
} from './entry.ts';
import {
  cacheKey,
  entryPath,
  type FileContent,
  KeyedLock,
  openDirectory,
  readFile,
  replaceFile,
} from './files.ts';
import {Inventory} from './index.ts';

export interface DiskCacheSettings {
  /** Expanded; empty disables caching. */
  readonly directory: string;
  readonly ttlDays: number;
  /** 0 disables caching. */
  readonly maxEntries: number;
  /** Of all files together. */
  readonly maxBytes: number;
  readonly clock: Clock;
  readonly log: Log;
}

export interface DiskCache {
  /** The entry of a canonical URL, if there is one that is valid and has not expired. Never fails. */
  readonly read: (url: string, method: RenderingMethod) => Promise<CacheEntry | undefined>;
  /** The same, expired or not. Looking at it is no use of it. */
  readonly peek: (url: string, method: RenderingMethod) => Promise<CacheEntry | undefined>;
  /** False means that the response carries the note `cache_write_failed`. Never fails. */
  readonly write: (entry: NewCacheEntry) => Promise<boolean>;
  /** Removes the entry of a canonical URL if it is one of these. Never fails. */
  readonly remove: (
    url: string,
    method: RenderingMethod,
    isMeant: (entry: CacheEntry) => boolean,
  ) => Promise<void>;
  /** Resolves when nothing is done any more that no call waits for: then the directory may be removed. */
  readonly settled: () => Promise<void>;
}

interface Loaded {
  readonly entry: CacheEntry;
  readonly content: FileContent;
  readonly path: string;
}

interface Store {
  readonly directory: string;
  readonly inventory: Inventory;
  readonly locks: KeyedLock;
}

/** So much is written part by part: a copy of it in one piece costs more than the calls. */
const LARGE_BYTES = 1_048_576;

/** SRD 3.6: the page cache. Nothing is touched before the first `read` or `write`. */
export function openDiskCache(settings: DiskCacheSettings): DiskCache {
  const {ttlDays, maxEntries, maxBytes, clock, log} = settings;
  // FR-WF-CCH-ENABLE-01
  const enabled = settings.directory !== '' && maxEntries > 0;
  const largest = Math.min(maxBytes, LARGEST_ENTRY);
  const writes = new KeyedLock();
  let opening: Promise<Store | undefined> | undefined;
  let preparing: Promise<unknown> = Promise.resolve();

  function store(): Promise<Store | undefined> {
    opening ??= openStore(settings);
    return opening;
  }

  async function read(url: string, method: RenderingMethod, home: Store): Promise<CacheEntry | undefined> {
    const key = cacheKey(url, method);
    const found = await load(url, method, home);
    if (!found) return undefined;
    const {entry, content, path} = found;
    const now = clock.now();
    if (Date.parse(entry.expires_at) < now) return undefined;
    const lastAccess = timestamp(now);
    try {
      const bytes = touchEntry(content.bytes, entry, lastAccess);
      // Another process may have written a newer page; this one must not replace it.
      const still = (): Promise<boolean> => isSameFile(path, content);
      if (await replaceFile(path, bytes, {still})) home.inventory.accessed(key, bytes.length, now);
    } catch (error) {
      warn('cache_touch_failed', expectedErrorCode(error), url, method);
    }
    return {...entry, last_accessed_at: lastAccess};
  }

  async function load(url: string, method: RenderingMethod, home: Store): Promise<Loaded | undefined> {
    const path = entryPath(home.directory, cacheKey(url, method));
    let content: FileContent;
    try {
      const found = await readFile(path, largest);
      if (!found || found.size > largest) return undefined;
      content = found;
    } catch (error) {
      const code = expectedErrorCode(error);
      if (code !== 'ENOENT') warn('cache_read_failed', code, url, method);
      return undefined;
    }
    const entry = parseEntry(content.bytes);
    // Ruling F4: an entry of another URL or method is a miss, as is one that has expired (FR-WF-16d).
    if (entry?.canonical_url !== url || entry.rendering_method !== method) return undefined;
    return {entry, content, path};
  }

  async function write(entry: NewCacheEntry, home: Store): Promise<boolean> {
    const {canonical_url: url, rendering_method: method} = entry;
    const {inventory, locks} = home;
    const now = clock.now();
    const printed = printEntryInParts({
      ...entry,
      expires_at: timestamp(expiryOf(entry, ttlDays)),
      last_accessed_at: timestamp(now),
    });
    const size = printed.reduce((sum, part) => sum + part.length, 0);
    if (size > largest) {
      const limit = largest === maxBytes ? 'max_cache_bytes' : `${LARGEST_ENTRY} bytes`;
      warn('cache_write_failed', `entry exceeds ${limit}`, url, method);
      return false;
    }
    const key = cacheKey(url, method);
    const content = size < LARGE_BYTES ? Buffer.concat(printed) : printed;
    await inventory.makeRoom(key, size);
    try {
      await locks.hold(key, () => replaceFile(entryPath(home.directory, key), content));
    } catch (error) {
      warn('cache_write_failed', expectedErrorCode(error), url, method);
      await inventory.notWritten(key);
      return false;
    }
    await inventory.written(key, size, now);
    return true;
  }

  async function remove(
    url: string,
    method: RenderingMethod,
    isMeant: (entry: CacheEntry) => boolean,
    home: Store,
  ): Promise<void> {
    const found = await load(url, method, home);
    if (!found || !isMeant(found.entry)) return;
    try {
      // Another process may have written a newer page.
      if (await isSameFile(found.path, found.content)) await unlink(found.path);
    } catch (error) {
      const code = expectedErrorCode(error);
      if (code !== 'ENOENT') return warn('cache_remove_failed', code, url, method);
    }
    await home.inventory.removed(cacheKey(url, method));
  }

  /** FR-WF-16h, FR-WF-19b: of the URL, only the host is logged. */
  function warn(event: string, reason: string, url: string, method: RenderingMethod): void {
    log({
      level: 'warn',
      event,
      message: `${event}: ${reason}`,
      requested_host: new URL(url).host,
      rendering_method: method,
      cache_hit: false,
      error_code: event,
    });
  }

  return {
    async read(url, method) {
      const home = enabled ? await store() : undefined;
      if (!home) return undefined;
      const entry = await home.locks.hold(cacheKey(url, method), () => read(url, method, home));
      // The page is fetched now; meanwhile the directory is listed for the write that follows.
      if (!entry) preparing = home.inventory.prepare();
      return entry;
    },
    async peek(url, method) {
      const home = enabled ? await store() : undefined;
      const found = await home?.locks.hold(cacheKey(url, method), () => load(url, method, home));
      return found?.entry;
    },
    async write(entry) {
      const home = enabled ? await store() : undefined;
      // One after another, so that two writes do not make the same room twice.
      return home ? writes.hold('', () => write(entry, home)) : true;
    },
    async remove(url, method, isMeant) {
      const home = enabled ? await store() : undefined;
      await home?.locks.hold(cacheKey(url, method), () => remove(url, method, isMeant, home));
    },
    async settled() {
      await preparing;
    },
  };
}

async function isSameFile(path: string, read: FileContent): Promise<boolean> {
  try {
    const {ino, mtimeMs} = await lstat(path);
    return ino === read.inode && mtimeMs === read.changedMs;
  } catch (error) {
    expectedErrorCode(error);
    return false;
  }
}

/** Ruling F5: a directory that cannot be had, or trusted, disables caching with one warning. */
async function openStore(settings: DiskCacheSettings): Promise<Store | undefined> {
  const opened = await openDirectory(settings.directory);
  if ('problem' in opened) {
    settings.log({
      level: 'warn',
      event: 'cache_disabled',
      message: `The cache directory is not used: ${opened.problem}. Set tools.webfetch.cache_dir to a directory of your own.`,
    });
    return undefined;
  }
  const locks = new KeyedLock();
  const {maxEntries, maxBytes, clock, log} = settings;
  const directory = opened.path;
  return {directory, locks, inventory: new Inventory({directory, maxEntries, maxBytes, clock, log, locks})};
}
