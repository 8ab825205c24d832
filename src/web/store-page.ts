import {timestamp} from '../core/clock.ts';
import type {DiskCache} from './cache/disk-cache.ts';
import type {PermanentRedirects} from './cache/permanent-redirects.ts';
import {validatorsOf} from './cache/validators.ts';
import type {Navigation} from './navigate/navigation.ts';
import {usagePreferences} from './navigate/usage-preferences.ts';
import type {WebFetchOptions} from './options.ts';
import type {CheckedUrl, LoadedPage, WebUrl} from './page.ts';
import type {Content} from './read-content.ts';

export interface StoreDeps {
  readonly options: Pick<WebFetchOptions, 'cache_redirects'>;
  readonly cache: Pick<DiskCache, 'write'>;
  readonly redirects: PermanentRedirects;
}

export interface StoreTerms {
  /** Under which address it is kept; `source` is the address that was asked. */
  readonly addressOf: (url: string, source: WebUrl) => string;
  /** See `Validators.asked_as`. */
  readonly askedAs: string;
  readonly navigation: Pick<Navigation, 'robotsUsage'>;
}

export interface StoredPage {
  readonly page: Omit<LoadedPage, 'remainingMs'>;
  /** False where it should have been kept, and could not be. */
  readonly stored: boolean;
}

/** Keeps what was read for later calls (FR-WF-CCH-KEY-01, FR-WF-CCH-KEY-03: under the final URL, and only what is returned). */
export async function storePage(
  start: CheckedUrl,
  content: Content,
  {addressOf, askedAs, navigation}: StoreTerms,
  {cache, redirects, options}: StoreDeps,
): Promise<StoredPage> {
  const {source, finalUrl, method, origin, document, plan, notes, license} = content;
  // What the site says of the use of the page is recorded, and that is all.
  const usage = usagePreferences({robots: navigation.robotsUsage, headers: source.headers, license});
  const facts = usage.length === 0 ? content.facts : {...content.facts, usage};
  const validators = content.isRefreshable
    ? validatorsOf(source.headers, source.fetchedAt, askedAs)
    : undefined;
  const fetchedAt = timestamp(source.fetchedAt);
  const {counts} = plan;
  const stored =
    content.uncacheable ||
    (await cache.write({
      canonical_url: addressOf(finalUrl, source.url),
      rendering_method: method,
      fetched_at: fetchedAt,
      ...(origin && {origin}),
      facts,
      extracted: document,
      counts,
      notes,
      ...(validators && {validators}),
    }));
  const from = start.url.canonical;
  const reached = source.url.canonical;
  if (options.cache_redirects && source.permanent && reached !== from && reached === finalUrl) {
    redirects.remember(from, reached);
  }
  return {page: {finalUrl, fetchedAt, method, document, counts, plan, notes, facts}, stored};
}
