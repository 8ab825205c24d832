import type {Clock} from '../core/clock.ts';
import type {Browser} from './browser/browser.ts';
import type {DiskCache} from './cache/disk-cache.ts';
import type {CacheEntry} from './cache/entry.ts';
import {pageAddress} from './cache/page-address.ts';
import type {PermanentRedirects} from './cache/permanent-redirects.ts';
import {cacheAddress, credentialFor} from './credentials/credential-origin.ts';
import {checkUrl} from './guard/check-url.ts';
import type {GuardPolicy} from './guard/guard-policy.ts';
import {HostReach, type MayReach} from './navigate/host-reach.ts';
import type {WebFetchOptions} from './options.ts';
import type {CanonicalUrl, CheckedUrl, Credential, LoadedPage, ReadingTerms} from './page.ts';
import {readingVariant} from './reading-variant.ts';
import type {Rendering} from './render/choose-rendering.ts';
import {parseUrl} from './url/parse-url.ts';

export interface FindCachedDeps {
  readonly options: Pick<
    WebFetchOptions,
    'cache_redirects' | 'browser' | 'timeout_seconds' | 'http' | 'extraction'
  >;
  readonly clock: Clock;
  readonly policy: GuardPolicy;
  readonly cache: Pick<DiskCache, 'read'>;
  readonly redirects: PermanentRedirects;
  readonly browser: Pick<Browser, 'isThere'>;
  readonly credentials: readonly Credential[];
}

/**
 * Ruling F1: the browser's entry where the browser was chosen up front; else the HTTP entry, else
 * one that a fallback to the browser left.
 */
export async function findCached(
  {url, opened}: CheckedUrl,
  rendering: Rendering,
  {
    mayReach,
    reading,
  }: {readonly mayReach?: MayReach | undefined; readonly reading?: ReadingTerms | undefined},
  deps: FindCachedDeps,
): Promise<LoadedPage | undefined> {
  const credential = credentialFor(url.origin, deps.credentials);
  const direct = await lookUp(url.canonical, credential, rendering, reading, deps);
  if (direct || !deps.options.cache_redirects) return direct;
  // Ruling F2. The remembered target passes today's static checks before its page is served.
  const target = deps.redirects.recall(url.canonical);
  if (target === undefined) return undefined;
  const parsed = parseUrl(target);
  if (!parsed.ok || !checkUrl(parsed.value, deps.policy, opened).ok) return undefined;
  if (!new HostReach(url, mayReach).permit(parsed.value).ok) return undefined;
  return lookUp(parsed.value.canonical, credential, rendering, reading, deps);
}

async function lookUp(
  canonical: CanonicalUrl,
  credential: Credential | undefined,
  rendering: Rendering,
  reading: ReadingTerms | undefined,
  deps: FindCachedDeps,
): Promise<LoadedPage | undefined> {
  const {cache, options, browser, clock} = deps;
  const address = pageAddress(cacheAddress(canonical, credential), readingVariant(reading, options));
  let entry: CacheEntry | undefined;
  if (rendering.method === 'http') entry = await cache.read(address, 'http');
  if (!entry) {
    const rendered = await cache.read(address, 'browser');
    if (rendering.method === 'browser' || rendered?.origin === 'fallback') entry = rendered;
  }
  if (!entry) return undefined;
  // Ruling F3: that there was no browser is no longer true of this host.
  const wasWithout = entry.notes.includes('browser_unavailable_used_http');
  if (wasWithout && options.browser.enabled && (await browser.isThere())) return undefined;
  const confirmed = Date.parse(entry.facts?.validatedAt ?? entry.fetched_at);
  if (reading?.maxAgeMs !== undefined && clock.now() - confirmed >= reading.maxAgeMs) return undefined;
  return cachedPage(entry, canonical, options.timeout_seconds * 1000);
}

/** What was kept, as the answer to a call. */
export function cachedPage(entry: CacheEntry, finalUrl: string, remainingMs: number): LoadedPage {
  return {
    finalUrl,
    fetchedAt: entry.fetched_at,
    method: entry.rendering_method,
    document: entry.extracted,
    counts: entry.counts,
    plan: undefined,
    notes: ['cache_hit', ...entry.notes],
    facts: entry.facts ?? {},
    remainingMs,
  };
}
