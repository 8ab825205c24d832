import {toUrl} from '../../../core/text/to-url.ts';
import type {ScannedEntry} from './scan-entries.ts';

export interface HostStats {
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
