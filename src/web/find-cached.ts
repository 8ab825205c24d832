// Finds a page in the cache, under its own address or behind a permanent redirect.

import {type CacheEntry, confirmedAt, pageAddress, pageOf} from './cache/entry.ts';
import {checkUrl} from './guard/check-url.ts';
import {cacheAddress, credentialFor} from './navigate/credentials.ts';
import {HostReach} from './navigate/fetch-run.ts';
import {defaultMedia} from './navigate/headers.ts';
import type {WebFetchOptions} from './options.ts';
import type {CanonicalUrl, ExtraMedia, Note, Page, ReadOptions, RenderingMethod, WebUrl} from './page.ts';
import type {PageRequest} from './read-content.ts';
import {type Rendering, renderingAt} from './rendering.ts';
import {parseUrl} from './url.ts';
import type {WebContext} from './web-context.ts';

const WITHOUT_BROWSER: Note = 'browser_unavailable_used_http';

/** The page of a URL: under its own address, else under the one that it is known to lead to for good. */
export async function findCached(request: PageRequest, web: WebContext): Promise<Page | undefined> {
  const {url, opened} = request.start;
  const direct = await lookUp(request, url.canonical, request.rendering, web);
  if (direct || !web.options.cache_redirects) return direct;
  // Ruling F2. The remembered target passes today's static checks before its page is served.
  const target = web.redirects.peek(url.canonical);
  if (target === undefined) return undefined;
  const parsed = parseUrl(target);
  if (!parsed.ok || !checkUrl(parsed.value, web.policy, opened).ok) return undefined;
  if (!new HostReach(url, request.mayReach).permit(parsed.value).ok) return undefined;
  const there = renderingAt(parsed.value, request.rendering, web.options);
  return lookUp(request, parsed.value.canonical, there, web);
}

/** Under which address a page is looked for that `requested` has or leads to. */
export function addressFor(
  requested: WebUrl,
  canonical: CanonicalUrl,
  reading: ReadOptions | undefined,
  {credentials, options}: WebContext,
): string {
  const credential = credentialFor(requested.origin, credentials);
  return pageAddress(cacheAddress(canonical, credential), cacheVariant(reading, options));
}

async function lookUp(
  {start, reading}: PageRequest,
  canonical: CanonicalUrl,
  rendering: Rendering,
  web: WebContext,
): Promise<Page | undefined> {
  const {cache, clock} = web;
  const address = addressFor(start.url, canonical, reading, web);
  for (const method of methodsOf(rendering)) {
    const entry = await cache.read(address, method);
    if (!entry || !serves(entry, rendering) || !(await stillHolds(entry, rendering, web))) continue;
    if (reading?.maxAgeMs !== undefined && clock.now() - confirmedAt(entry) >= reading.maxAgeMs) continue;
    return pageOf(entry, canonical);
  }
  return undefined;
}

/** Ruling F1: where calls that are rendered so look, in order. */
export function methodsOf(rendering: Rendering): readonly RenderingMethod[] {
  if (rendering.method === 'http') return ['http', 'browser'];
  return rendering.origin === 'forced' ? ['browser'] : ['browser', 'http'];
}

/** Rulings F1, F3: whether an entry is one for calls that are rendered so. */
export function serves(
  {rendering_method, origin, notes}: Pick<CacheEntry, 'rendering_method' | 'origin' | 'notes'>,
  rendering: Rendering,
): boolean {
  if (rendering_method === 'browser') return rendering.method === 'browser' || origin === 'fallback';
  if (rendering.method === 'http') return origin !== 'js_heavy';
  return rendering.origin === 'js_heavy' && notes.includes(WITHOUT_BROWSER);
}

/** Ruling F3: whether what kept the browser from a page that wanted it keeps it from that page now. */
async function stillHolds(
  {rendering_method, origin, notes}: CacheEntry,
  rendering: Rendering,
  {options, browser}: WebContext,
): Promise<boolean> {
  const saysSo = notes.includes(WITHOUT_BROWSER);
  if (rendering_method === 'browser' || (origin === undefined && !saysSo)) return true;
  const {enabled} = options.browser;
  const isWanted = rendering.method === 'browser' || (enabled && options.rendering.spa_fallback_enabled);
  return isWanted ? saysSo && !(enabled && (await browser.isThere())) : !saysSo;
}

/** Ruling R3: the name of the media that are read beside those of `web_fetch`; '' where they are the same. */
export function mediaVariant(
  reading: ReadOptions | undefined,
  options: Pick<WebFetchOptions, 'http'>,
): string {
  const name = (media: ReadonlySet<ExtraMedia>): string => [...media].sort().join('+');
  const wanted = name(reading?.accepts ?? new Set());
  return wanted === name(defaultMedia(options)) ? '' : wanted;
}

/** Names the options that make another page of an address. Empty for the defaults. (R2, R3) */
export function cacheVariant(
  reading: ReadOptions | undefined,
  options: Pick<WebFetchOptions, 'http' | 'extraction'>,
): string {
  const {mode} = options.extraction;
  return [mediaVariant(reading, options), mode === 'full' ? '' : mode].filter(part => part !== '').join(',');
}
