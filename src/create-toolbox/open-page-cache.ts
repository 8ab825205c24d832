// Opens the page cache for the commands that look after it. Nothing is fetched.
import type {Config} from '../config/config-schema.ts';
import {type Clock, systemClock} from '../core/clock.ts';
import {fail, type Result} from '../core/result.ts';
import {
  type CachedPage,
  type CacheManager,
  type CacheStats,
  openCacheManager,
  type Removal,
} from '../web/cache/admin.ts';
import type {CacheEntry} from '../web/cache/entry.ts';
import {parseUrl, redactUrl} from '../web/url.ts';

export type {CachedPage, CacheEntry, CacheStats, Removal};

export interface PageCache extends Omit<CacheManager, 'show'> {
  /** What is stored of the URL, at least one entry; `file_not_found` if nothing is. */
  readonly show: (url: string) => Promise<Result<readonly CacheEntry[]>>;
}

export function openPageCache({tools}: Config, clock: Clock = systemClock): PageCache {
  const {cache_dir, max_cache_entries, max_cache_bytes} = tools.webfetch;
  const manager = openCacheManager({
    directory: cache_dir,
    maxEntries: max_cache_entries,
    maxBytes: max_cache_bytes,
    clock,
  });
  return {
    ...manager,
    async show(text) {
      const url = parseUrl(text);
      if (!url.ok) return url;
      const found = await manager.show(url.value.canonical);
      if (!found.ok || found.value.length > 0) return found;
      return fail(
        'file_not_found',
        `The cache holds nothing of ${redactUrl(text)}. A page is stored under the address that its redirects led to: look it up with "forge-tools cache list".`,
        {path: cache_dir},
      );
    },
  };
}
