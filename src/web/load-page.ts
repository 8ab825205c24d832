// Loads a page from the network and stores it in the cache.

import {timestamp} from '../core/clock.ts';
import {ok, type Result} from '../core/result.ts';
import type {DiskCache} from './cache/disk-cache.ts';
import {
  confirmedAt,
  type NewCacheEntry,
  pageAddress,
  pageOf,
  staleDocument,
  validatorsOf,
} from './cache/entry.ts';
import {addressFor, cacheVariant, mediaVariant, methodsOf, serves} from './find-cached.ts';
import {cacheAddress} from './navigate/credentials.ts';
import {FetchRun, type HostReach} from './navigate/fetch-run.ts';
import {acceptHeader, defaultMedia, usagePreferences} from './navigate/headers.ts';
import type {Page, WebUrl} from './page.ts';
import {type Content, type PageRequest, readContent, type StalePage} from './read-content.ts';
import type {Rendering} from './rendering.ts';
import {parseUrl} from './url.ts';
import type {WebContext} from './web-context.ts';

/** Network to document: every hop, then decoding, rendering, extraction, chunking and the cache (FR-WF-TIMEOUT-02). */
export async function loadPage(
  request: PageRequest,
  web: WebContext,
  reach: HostReach,
  signal: AbortSignal,
): Promise<Result<Page>> {
  const {start, rendering, reading, noCache} = request;
  const accepts = reading?.accepts ?? defaultMedia(web.options);
  const headers =
    mediaVariant(reading, web.options) === '' ? web.headers : {...web.headers, Accept: acceptHeader(accepts)};
  const fingerprint = web.requestFingerprint(headers);
  const run = new FetchRun(web, {method: rendering.method, reach, signal, accepts, headers});
  const variant = cacheVariant(reading, web.options);
  /** Pages fetched with a credential or other options get their own cache key. `source` is the address that was asked. */
  const addressOf = (url: string, source: WebUrl): string =>
    pageAddress(cacheAddress(url, run.credentialFor(source)), variant);
  const asked = {address: addressFor(start.url, start.url.canonical, reading, web), rendering};
  const answer = (page: Page, stored: boolean): Result<Page> => {
    const notes = [...page.notes];
    if (run.robotsFailOpen) notes.push('robots_unavailable_fail_open');
    if (!stored) notes.push('cache_write_failed');
    if (run.hubUnavailable) notes.push('hub_unavailable');
    return ok({...page, notes, remainingMs: run.budget.remainingMs()});
  };
  try {
    // The SRD's cache knows hits and misses only (FR-WF-16d), and no_cache is a miss (FR-WF-17).
    const findKept = (url: WebUrl) => findStale(url, addressOf(url.canonical, url), fingerprint, run, web);
    const read = await readContent(request, run, web, reading && !noCache ? findKept : undefined);
    if (!read.ok) return read;
    if ('notModified' in read.value) {
      const {entry, finalUrl} = read.value.notModified;
      const facts = {...entry.facts, validatedAt: timestamp(web.clock.now())};
      const renewed = {...entry, facts};
      const stored = await keepFresh(renewed, asked, web.cache);
      return answer(pageOf(renewed, finalUrl), stored);
    }
    const content = read.value;
    // What the site says of the use of the page is recorded, and that is all.
    const {source, about} = content;
    const {robotsUsage: robots} = run;
    const usage = usagePreferences({robots, headers: source.headers, license: about.license});
    const page = usage.length === 0 ? content.page : {...content.page, facts: {...content.page.facts, usage}};
    const address = addressOf(page.finalUrl, source.url);
    const stored =
      content.uncacheable ||
      (await keepFresh(entryOf(page, content, address, fingerprint), asked, web.cache));
    rememberRedirect(start.url, content, web);
    return answer(page, stored);
  } finally {
    await run.close();
  }
}

/** The page of an address that came over HTTP, expired or not, if its server can be asked about it. */
async function findStale(
  url: WebUrl,
  address: string,
  fingerprint: string,
  run: FetchRun,
  {cache}: WebContext,
): Promise<StalePage | undefined> {
  const entry = await cache.peek(address, 'http');
  if (entry?.validators?.asked_as !== fingerprint) return undefined;
  const stale = staleDocument(entry.validators);
  if (!stale || entry.facts?.alternate === undefined) {
    return stale && {...stale, entry, finalUrl: url.canonical};
  }
  // Its validators are those of the version in Markdown. Do not trust the cached URL: same origin only.
  const at = parseUrl(entry.facts.alternate);
  if (!at.ok || at.value.origin !== url.origin) return undefined;
  const checked = run.check(at.value);
  return checked.ok ? {...stale, at: checked.value, entry, finalUrl: url.canonical} : undefined;
}

/** Where the call looked for its page. */
interface Place {
  readonly address: string;
  readonly rendering: Rendering;
}

/** What is kept for later calls: only what is returned (FR-WF-CCH-KEY-01, FR-WF-CCH-KEY-03). */
function entryOf(
  {markdown, title, language, fetchedAt, method, facts, plan, notes}: Page,
  {source, origin, isRefreshable}: Content,
  address: string,
  fingerprint: string,
): NewCacheEntry {
  const validators = isRefreshable ? validatorsOf(source.headers, source.fetchedAt, fingerprint) : undefined;
  return {
    canonical_url: address,
    rendering_method: method,
    fetched_at: fetchedAt,
    ...(origin && {origin}),
    facts,
    extracted: {markdown, ...(title !== undefined && {title}), ...(language !== undefined && {language})},
    plan,
    notes,
    ...(validators && {validators}),
  };
}

function rememberRedirect(
  {canonical: from}: WebUrl,
  {source, page}: Content,
  {redirects, options}: WebContext,
): void {
  const reached = source.url.canonical;
  if (options.cache_redirects && source.permanent && reached !== from && reached === page.finalUrl) {
    redirects.set(from, reached);
  } else redirects.delete(from);
}

/** Ruling F9: from now on the look-ups of both addresses, the requested one and its own, find this page or none. */
export async function keepFresh(entry: NewCacheEntry, asked: Place, cache: DiskCache): Promise<boolean> {
  const {canonical_url: address, rendering_method, origin} = entry;
  const stored = await cache.write(entry);
  const own: Rendering =
    origin === 'forced' || origin === 'js_heavy' ? {method: 'browser', origin} : {method: 'http'};
  const places = asked.address === address ? [asked] : [asked, {address, rendering: own}];
  for (const place of places) {
    for (const method of methodsOf(place.rendering)) {
      if (stored && place.address === address && method === rendering_method) continue;
      await cache.remove(
        place.address,
        method,
        // A fetch that began later may have ended before.
        old => serves(old, place.rendering) && confirmedAt(old) <= confirmedAt(entry),
      );
    }
  }
  return stored;
}
