import {Budget} from '../core/budget.ts';
import {timestamp} from '../core/clock.ts';
import {ok, type Result} from '../core/result.ts';
import type {OpenPage} from './browser/open-page.ts';
import type {DiskCache} from './cache/disk-cache.ts';
import {modeAddress} from './cache/mode-address.ts';
import type {PermanentRedirects} from './cache/permanent-redirects.ts';
import {cacheAddress} from './credentials/credential-origin.ts';
import type {HostReach} from './navigate/host-reach.ts';
import {Navigation, type NavigationDeps} from './navigate/navigation.ts';
import type {WebFetchOptions} from './options.ts';
import type {CheckedUrl, Credential, LoadedPage} from './page.ts';
import {type Content, type ContentDeps, readContent} from './read-content.ts';
import type {Rendering} from './render/choose-rendering.ts';
import {type BrowserPageDeps, openBrowserPage} from './render/open-browser-page.ts';

interface StoreDeps {
  readonly options: Pick<WebFetchOptions, 'cache_redirects' | 'extraction'>;
  readonly cache: Pick<DiskCache, 'write'>;
  readonly redirects: PermanentRedirects;
}

export type LoadPageDeps = NavigationDeps & BrowserPageDeps & ContentDeps & StoreDeps;

/** Network to document: every hop, then decoding, rendering, extraction, chunking and the cache (FR-WF-TIMEOUT-02). */
export async function loadPage(
  start: CheckedUrl,
  rendering: Rendering,
  maxChunkTokens: number,
  deps: LoadPageDeps,
  reach: HostReach,
  signal: AbortSignal,
): Promise<Result<LoadedPage>> {
  const budget = new Budget(deps.options.timeout_seconds * 1000, deps.clock, signal);
  const navigation = new Navigation(deps, rendering.method, reach);
  const opened: OpenPage[] = [];
  try {
    const read = await readContent(start, rendering, {
      deps,
      navigation,
      budget,
      maxChunkTokens,
      open: async url => {
        const page = await openBrowserPage(url, navigation, deps, signal);
        if (page.ok) opened.push(page.value);
        return page;
      },
    });
    if (!read.ok) return read;
    const content = read.value;
    const stored = content.uncacheable || (await store(content, navigation.credential, deps));
    rememberRedirect(start, content, deps);
    return ok({
      finalUrl: content.finalUrl,
      fetchedAt: timestamp(content.source.fetchedAt),
      method: content.method,
      document: content.document,
      counts: content.plan.counts,
      plan: content.plan,
      notes: [
        ...content.notes,
        ...(navigation.robotsFailOpen ? (['robots_unavailable_fail_open'] as const) : []),
        ...(stored ? [] : (['cache_write_failed'] as const)),
      ],
      remainingMs: budget.remainingMs(),
    });
  } finally {
    budget.close();
    await Promise.all(opened.map(page => page.close()));
  }
}

/** FR-WF-CCH-KEY-01, FR-WF-CCH-KEY-03, R2: under the final URL and the mode, and only what is returned. */
function store(
  content: Content,
  credential: Credential | undefined,
  {cache, options}: StoreDeps,
): Promise<boolean> {
  const {source, finalUrl, method, origin, document, plan, notes} = content;
  return cache.write({
    canonical_url: modeAddress(cacheAddress(finalUrl, credential), options.extraction.mode),
    rendering_method: method,
    fetched_at: timestamp(source.fetchedAt),
    ...(origin && {origin}),
    extracted: document,
    counts: plan.counts,
    notes: notes,
  });
}

function rememberRedirect(
  start: CheckedUrl,
  {source, finalUrl}: Content,
  {options, redirects}: StoreDeps,
): void {
  const from = start.url.canonical;
  const reached = source.url.canonical;
  if (options.cache_redirects && source.permanent && reached !== from && reached === finalUrl) {
    redirects.remember(from, reached);
  }
}
