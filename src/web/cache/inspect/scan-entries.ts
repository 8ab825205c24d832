import type {RenderingMethod} from '../../page.ts';
import {entryPath} from '../entry-path.ts';
import {listEntries} from '../index/list-entries.ts';
import {type FoundHead, readEntryHead} from './read-entry-head.ts';

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

const LOOKS_AT_ONCE = 16;

/** Looks into every entry below the directory, at its first bytes only. Other processes may use it meanwhile. */
export async function scanEntries(directory: string, now: number): Promise<readonly ScannedEntry[]> {
  const listed = [...(await listEntries(directory, now))];
  const scanned: ScannedEntry[] = [];
  const lookAtSome = async (): Promise<void> => {
    for (let one = listed.pop(); one !== undefined; one = listed.pop()) {
      const path = entryPath(directory, one.key);
      const found = await readEntryHead(path, one.key);
      // Gone since it was listed.
      if (!found) continue;
      const size = found.size || one.size;
      scanned.push({...found, size, key: one.key, path, page: pageOf({...found, size}, now)});
    }
  };
  await Promise.all(Array.from({length: LOOKS_AT_ONCE}, lookAtSome));
  return scanned;
}

function pageOf({head, size}: FoundHead, now: number): CachedPage | undefined {
  if (!head) return undefined;
  const {canonical_url: url, ...rest} = head;
  const {rendering_method, fetched_at, expires_at, last_accessed_at} = rest;
  const fresh = Date.parse(expires_at) >= now;
  return {url, rendering_method, fetched_at, expires_at, last_accessed_at, bytes: size, fresh};
}
