import {timestamp} from '../../core/clock.ts';
import {type CacheEntry, type NewCacheEntry, parseEntry, printEntry} from './entry.ts';

const DAY_MS = 86_400_000;

/** For other replicas: in the form that the disk has. How long it serves is for each of them to say. */
export function printSharedEntry(entry: NewCacheEntry): Uint8Array {
  return printEntry({...entry, expires_at: entry.fetched_at, last_accessed_at: entry.fetched_at});
}

/**
 * Ruling S1: `undefined` for everything that is not, to the last field, a page of this address that serves now.
 * A page of tomorrow is none, or it would serve for ever; clocks may differ by less.
 */
export function readSharedEntry(
  bytes: Uint8Array,
  {address, ttlDays, now}: {readonly address: string; readonly ttlDays: number; readonly now: number},
): CacheEntry | undefined {
  const entry = parseEntry(bytes);
  if (entry?.canonical_url !== address) return undefined;
  const confirmed = Date.parse(entry.facts?.validatedAt ?? entry.fetched_at);
  const expires = confirmed + ttlDays * DAY_MS;
  if (Number.isNaN(expires) || confirmed > now + DAY_MS || expires < now) return undefined;
  return {...entry, expires_at: timestamp(expires), last_accessed_at: timestamp(now)};
}
