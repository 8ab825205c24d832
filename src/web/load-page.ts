import {Budget} from '../core/budget.ts';
import {timestamp} from '../core/clock.ts';
import {fail} from '../core/failure.ts';
import {ok, type Result} from '../core/result.ts';
import type {Rendering} from './choose-rendering.ts';
import type {FetchParts} from './fetch-parts.ts';
import {followRedirects, type Landing} from './follow-redirects.ts';
import type {CheckedUrl, ExtractedDocument, Note, RenderingMethod} from './page.ts';
import {readDocument} from './read-document.ts';

/** A document from the network or from the cache, before chunking. */
export interface LoadedPage {
  readonly finalUrl: string;
  readonly fetchedAt: string;
  readonly method: RenderingMethod;
  readonly document: ExtractedDocument;
  readonly notes: readonly Note[];
  /** What the fetch left of `timeout_seconds` for chunking. */
  readonly remainingMs: number;
}

/** Network to document: every hop, then decoding, extraction and the cache, under one budget (FR-WF-TIMEOUT-02). */
export async function loadPage(
  start: CheckedUrl,
  rendering: Rendering,
  parts: FetchParts,
  signal: AbortSignal,
): Promise<Result<LoadedPage>> {
  const {options} = parts;
  // FR-WF-11a. Ruling G3: a js_heavy page is fetched over HTTP where there is no browser.
  if (rendering.method === 'browser' && rendering.origin === 'forced')
    return noBrowser(options.browser.chromium_path);

  const budget = new Budget(options.timeout_seconds * 1000, parts.clock, signal);
  try {
    const landing = await followRedirects(start, parts, budget);
    if (!landing.ok) return landing;
    const raw = await readDocument(landing.value.response, options);
    if (!raw.ok) return raw;
    const fetchedAt = parts.clock.now();
    const {bytes, media, headerCharset} = raw.value;
    const finalUrl = landing.value.url.canonical;
    const converted = await parts.offload.run(
      {
        kind: 'convert',
        bytes,
        media,
        headerCharset,
        baseUrl: finalUrl,
        honorBaseHref: options.extraction.honor_base_href,
      },
      budget,
    );
    if (!converted.ok) return converted;
    const {document, charsetFallback, spaIndicators} = converted.value;

    const wantsBrowser =
      options.browser.enabled &&
      (rendering.method === 'browser' ||
        // FR-WF-12c: little text, the marks of an application, and a plain 200.
        (options.rendering.spa_fallback_enabled &&
          raw.value.status === 200 &&
          spaIndicators &&
          document.markdown.length < options.rendering.min_extracted_chars));

    // Ruling F3: what describes the content is kept with it.
    const conditions: Note[] = [];
    if (wantsBrowser || rendering.method === 'browser') conditions.push('browser_unavailable_used_http');
    if (charsetFallback) conditions.push('charset_fallback');

    const stored = await parts.cache.write({
      canonical_url: finalUrl,
      rendering_method: 'http',
      fetched_at: timestamp(fetchedAt),
      extracted: document,
      notes: conditions,
    });
    rememberRedirect(start, landing.value, parts);
    return ok({
      finalUrl,
      fetchedAt: timestamp(fetchedAt),
      method: 'http',
      document,
      notes: [
        ...conditions,
        ...(landing.value.robotsFailOpen ? (['robots_unavailable_fail_open'] as const) : []),
        ...(stored ? [] : (['cache_write_failed'] as const)),
      ],
      remainingMs: budget.remainingMs(),
    });
  } finally {
    budget.close();
  }
}

function rememberRedirect(start: CheckedUrl, landing: Landing, parts: FetchParts): void {
  const from = start.url.canonical;
  if (parts.options.cache_redirects && landing.permanent && landing.url.canonical !== from) {
    parts.redirects.remember(from, landing.url.canonical);
  }
}

function noBrowser(chromiumPath: string) {
  return fail(
    'browser_unavailable',
    'force_browser needs a browser and this build has none. Call again without force_browser.',
    {chromium_path: chromiumPath, error: 'browser mode is not built in'},
  );
}
