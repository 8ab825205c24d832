// Keeps what was read under the hash of its text, as entries of the page cache.

import type {DiskCache} from './cache/disk-cache.ts';
import {METHODS, pageOf} from './cache/entry.ts';
import {cacheAddress, credentialFor} from './navigate/credentials.ts';
import type {Credential, Note, Page} from './page.ts';

/** A page with its name. Its lines end in LF. */
export type SnapshotPage = Page & {readonly snapshot: string};

/** Addresses of snapshots that are remembered; the rest is on the disk. */
const REMEMBERED = 4096;
/** Ruling F3: notes that describe the content and not the call. */
const CONDITIONS: ReadonlySet<Note> = new Set([
  'browser_unavailable_used_http',
  'browser_timeout_dom_partial',
  'browser_dom_truncated',
  'browser_blocked_non_get',
  'charset_fallback',
]);

/**
 * Ruling R1: what was read stays readable under its snapshot when the page is fetched anew. It is an entry of the
 * page cache under `URL#SNAPSHOT`, which is no page's address, so it goes when entries go: after `cache_ttl_days`,
 * or as the least recently used. Without a cache nothing is kept.
 */
export class Snapshots {
  readonly #cache: DiskCache;
  readonly #credentials: readonly Credential[];
  /** Requested address and snapshot → the address that it was read from. */
  readonly #finals = new Map<string, string>();
  /** Snapshot → the address that it was last asked for by. */
  readonly #requested = new Map<string, string>();
  /** The addresses that are written. */
  readonly #written = new Map<string, true>();

  constructor(cache: DiskCache, credentials: readonly Credential[]) {
    this.#cache = cache;
    this.#credentials = credentials;
  }

  /** `requested` is canonical: only who asked for an address gets what it led to. */
  async keep(requested: string, page: SnapshotPage): Promise<void> {
    const {snapshot, finalUrl, method, markdown, title, language} = page;
    remember(this.#finals, `${requested} ${snapshot}`, finalUrl);
    remember(this.#requested, snapshot, requested);
    const address = this.#cachedAs(requested, finalUrl, snapshot);
    if (this.#written.has(address)) return;
    const isWritten = await this.#cache.write({
      canonical_url: address,
      rendering_method: method,
      fetched_at: page.fetchedAt,
      facts: page.facts,
      notes: page.notes.filter(note => CONDITIONS.has(note)),
      extracted: {markdown, ...(title !== undefined && {title}), ...(language !== undefined && {language})},
    });
    if (isWritten) remember(this.#written, address, true);
  }

  async find(requested: string, snapshot: string): Promise<SnapshotPage | undefined> {
    const finalUrl = this.#finals.get(`${requested} ${snapshot}`) ?? requested;
    for (const method of METHODS) {
      const entry = await this.#cache.read(this.#cachedAs(requested, finalUrl, snapshot), method);
      if (entry) return {...pageOf(entry, finalUrl), snapshot};
    }
    return undefined;
  }

  /** What was read with a credential is there for who has the same one. */
  #cachedAs(requested: string, finalUrl: string, snapshot: string): string {
    const credential = credentialFor(new URL(requested).origin, this.#credentials);
    return `${cacheAddress(finalUrl, credential)}#${snapshot}`;
  }

  /** The address that a snapshot was asked for by, if this process has seen it. */
  addressOf(snapshot: string): string | undefined {
    return this.#requested.get(snapshot);
  }
}

function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  const oldest = map.keys().next();
  if (map.size > REMEMBERED && !oldest.done) map.delete(oldest.value);
}
