import {Budget} from '../core/budget.ts';
import {timestamp} from '../core/clock.ts';
import {ok, type Result} from '../core/result.ts';
import type {OpenPage} from './browser/open-page.ts';
import type {FetchDeps} from './fetch-deps.ts';
import type {HostReach} from './navigate/host-reach.ts';
import {Navigation} from './navigate/navigation.ts';
import type {CheckedUrl, LoadedPage} from './page.ts';
import {type Content, readContent} from './read-content.ts';
import type {Rendering} from './render/choose-rendering.ts';
import {openBrowserPage} from './render/open-browser-page.ts';

/** Network to document: every hop, then decoding, rendering, extraction, chunking and the cache (FR-WF-TIMEOUT-02). */
export async function loadPage(
  start: CheckedUrl,
  rendering: Rendering,
  maxChunkTokens: number,
  deps: FetchDeps,
  reach: HostReach,
  signal: AbortSignal,
): Promise<Result<LoadedPage>> {
  const budget = new Budget(deps.options.timeout_seconds * 1000, deps.clock, signal);
  const navigation = new Navigation(deps, rendering, reach);
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
    const stored = content.uncacheable || (await store(content, deps));
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

/** FR-WF-CCH-KEY-01, FR-WF-CCH-KEY-03: under the final URL, and only what is returned. */
function store(content: Content, {cache}: FetchDeps): Promise<boolean> {
  const {source, finalUrl, method, origin, document, plan, notes} = content;
  return cache.write({
    canonical_url: finalUrl,
    rendering_method: method,
    fetched_at: timestamp(source.fetchedAt),
    ...(origin && {origin}),
    extracted: document,
    counts: plan.counts,
    notes: notes,
  });
}

function rememberRedirect(start: CheckedUrl, {source, finalUrl}: Content, deps: FetchDeps): void {
  const from = start.url.canonical;
  const reached = source.url.canonical;
  if (deps.options.cache_redirects && source.permanent && reached !== from && reached === finalUrl) {
    deps.redirects.remember(from, reached);
  }
}
