import {Budget} from '../core/budget.ts';
import {timestamp} from '../core/clock.ts';
import {ok, type Result} from '../core/result.ts';
import type {OpenPage} from './browser/open-page.ts';
import type {DiskCache} from './cache/disk-cache.ts';
import type {CacheEntry} from './cache/entry.ts';
import {pageAddress} from './cache/page-address.ts';
import {keptDocument} from './cache/validators.ts';
import {cacheAddress} from './credentials/credential-origin.ts';
import {cachedPage} from './find-cached.ts';
import {acceptHeader} from './navigate/accept-header.ts';
import type {HostReach} from './navigate/host-reach.ts';
import {Navigation, type NavigationDeps} from './navigate/navigation.ts';
import type {WebFetchOptions} from './options.ts';
import type {CheckedUrl, LoadedPage, ReadingTerms, WebUrl} from './page.ts';
import {type ContentDeps, type KeptPage, readContent} from './read-content.ts';
import {mediaVariant, ownMedia, readingVariant} from './reading-variant.ts';
import type {Rendering} from './render/choose-rendering.ts';
import {type BrowserPageDeps, openBrowserPage} from './render/open-browser-page.ts';
import {type StoreDeps, storePage} from './store-page.ts';
import {parseUrl} from './url/parse-url.ts';

interface CacheDeps extends StoreDeps {
  readonly options: Pick<WebFetchOptions, 'cache_redirects' | 'http' | 'timeout_seconds' | 'extraction'>;
  readonly cache: Pick<DiskCache, 'write' | 'recall'>;
  /** What a document depends on of ours, for request headers of these: see `Validators.asked_as`. */
  readonly askedAs: (headers: Readonly<Record<string, string>>) => string;
}

export type LoadPageDeps = NavigationDeps & BrowserPageDeps & ContentDeps & CacheDeps;

export interface LoadRequest {
  readonly rendering: Rendering;
  readonly noCache: boolean;
  readonly maxChunkTokens: number;
  readonly reading: ReadingTerms | undefined;
}

/** Network to document: every hop, then decoding, rendering, extraction, chunking and the cache (FR-WF-TIMEOUT-02). */
export async function loadPage(
  start: CheckedUrl,
  {rendering, noCache, maxChunkTokens, reading}: LoadRequest,
  deps: LoadPageDeps,
  reach: HostReach,
  signal: AbortSignal,
): Promise<Result<LoadedPage>> {
  const budget = new Budget(deps.options.timeout_seconds * 1000, deps.clock, signal);
  const variant = readingVariant(reading, deps.options);
  const accepts = reading?.accepts ?? ownMedia(deps.options);
  const headers =
    mediaVariant(reading, deps.options) === ''
      ? deps.headers
      : {...deps.headers, Accept: acceptHeader(accepts)};
  const askedAs = deps.askedAs(headers);
  const navigation = new Navigation({...deps, headers}, rendering.method, reach);
  /** What is shown to a credential, or on other terms, is cached apart; `source` is the address that was asked. */
  const addressOf = (url: string, source: WebUrl): string =>
    pageAddress(cacheAddress(url, navigation.credentialFor(source)), variant);
  const opened: OpenPage[] = [];
  try {
    const read = await readContent(start, rendering, {
      deps,
      navigation,
      budget,
      maxChunkTokens,
      accepts,
      // The SRD's cache knows hits and misses only (FR-WF-16d), and no_cache is a miss (FR-WF-17).
      recall:
        reading && !noCache
          ? url => recall(url, addressOf(url.canonical, url), askedAs, navigation, deps)
          : undefined,
      open: async url => {
        const page = await openBrowserPage(url, navigation, deps, signal);
        if (page.ok) opened.push(page.value);
        return page;
      },
    });
    if (!read.ok) return read;
    if ('confirmed' in read.value) {
      const {confirmed, confirmedAt} = read.value;
      const facts = {...confirmed.entry.facts, validatedAt: timestamp(confirmedAt)};
      const {expires_at: _, last_accessed_at: __, ...kept} = confirmed.entry;
      const renewed = {...kept, facts};
      const stored = await deps.cache.write(renewed);
      const page = cachedPage({...confirmed.entry, facts}, confirmed.finalUrl, budget.remainingMs());
      return ok(withNotes(page, navigation, stored));
    }
    const {page, stored} = await storePage(start, read.value, {addressOf, askedAs, navigation}, deps);
    return ok(withNotes({...page, remainingMs: budget.remainingMs()}, navigation, stored));
  } finally {
    budget.close();
    await Promise.all(opened.map(page => page.close()));
  }
}

/** What the call adds to the notes on the content. */
function withNotes(
  page: LoadedPage,
  {robotsFailOpen, hubUnavailable}: Navigation,
  stored: boolean,
): LoadedPage {
  return {
    ...page,
    notes: [
      ...page.notes,
      ...(robotsFailOpen ? (['robots_unavailable_fail_open'] as const) : []),
      ...(stored ? [] : (['cache_write_failed'] as const)),
      ...(hubUnavailable ? (['hub_unavailable'] as const) : []),
    ],
  };
}

/** The page of an address that came over HTTP, expired or not, if its server can be asked about it. */
async function recall(
  url: WebUrl,
  address: string,
  askedAs: string,
  navigation: Navigation,
  {cache}: CacheDeps,
): Promise<KeptPage | undefined> {
  const entry: CacheEntry | undefined = await cache.recall(address, 'http');
  if (entry?.validators?.asked_as !== askedAs) return undefined;
  const kept = keptDocument(entry.validators);
  if (!kept || entry.facts?.alternate === undefined) {
    return kept && {...kept, entry, finalUrl: url.canonical};
  }
  // Its validators are those of the version in Markdown. An entry is a stranger's word: it leads nowhere else.
  const at = parseUrl(entry.facts.alternate);
  if (!at.ok || at.value.origin !== url.origin) return undefined;
  const checked = navigation.check(at.value);
  return checked.ok ? {...kept, at: checked.value, entry, finalUrl: url.canonical} : undefined;
}
