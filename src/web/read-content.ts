// Reads one document: over HTTP, in the browser, or its Markdown version.

import {timestamp} from '../core/clock.ts';
import type {FailureCode} from '../core/failure-codes.ts';
import {ok, type Result} from '../core/result.ts';
import type {OpenPage} from './browser/open-page.ts';
import type {CacheEntry, RenderingReason} from './cache/entry.ts';
import type {ConvertedDocument} from './convert/jobs.ts';
import {type FindStale, fetchAlternate, fetchDocument, type NotModified} from './navigate/fetch-document.ts';
import type {FetchRun} from './navigate/fetch-run.ts';
import {linkedMarkdown} from './navigate/headers.ts';
import type {CheckedUrl, MayReach, Note, Page, RawDocument, ReadOptions, StaleDocument} from './page.ts';
import {openBrowserPage, renderDocument} from './render-document.ts';
import {type Rendering, renderingAt} from './rendering.ts';
import type {WebContext} from './web-context.ts';

/** A call, as far as it decides which page it gets. */
export interface PageRequest {
  readonly start: CheckedUrl;
  readonly rendering: Rendering;
  readonly noCache: boolean;
  readonly maxChunkTokens: number;
  readonly mayReach: MayReach | undefined;
  readonly reading: ReadOptions | undefined;
}

/** A page that was read, and how that was found out. */
export interface Content {
  readonly page: Page;
  readonly source: RawDocument;
  /** Why the browser rendered it, or should have (ruling F3). */
  readonly origin?: RenderingReason;
  readonly spaIndicators: boolean;
  readonly about: ConvertedDocument['about'];
  /** The server's own document, not what a browser made of it: it can be asked about. */
  readonly isRefreshable: boolean;
  /** The next attempt may do better: not for the cache. */
  readonly uncacheable?: true;
}

/** A page of the cache that its server is asked about. */
export interface StalePage extends StaleDocument {
  readonly entry: CacheEntry;
  readonly finalUrl: string;
}

/** Ruling G4: after these, a page that only looked like an application is what came over HTTP. */
const BROWSER_TROUBLE: ReadonlySet<FailureCode> = new Set([
  'browser_unavailable',
  'browser_crashed',
  'timeout',
]);

/** SRD B.3: in the browser where that was chosen up front, else over HTTP first (FR-WF-12). */
export async function readContent(
  {start, rendering, maxChunkTokens}: PageRequest,
  run: FetchRun,
  web: WebContext,
  /** What is kept of an address; for calls that may be answered with it. */
  findKept: FindStale<StalePage> | undefined,
): Promise<Result<Content | NotModified<StalePage>>> {
  const reader = new Reader(run, web, maxChunkTokens);
  // Chromium starts while the document is fetched.
  const early = rendering.method === 'browser' ? await openBrowserPage(start.url, run, web) : undefined;
  // FR-WF-11a
  if (early?.ok === false && rendering.method === 'browser' && rendering.origin === 'forced') return early;
  let chosen = rendering;
  /** Asked at each hop, where C7 chooses anew. What a browser renders is not asked about. */
  const findStale: FindStale<StalePage> = async url => {
    chosen = renderingAt(url, chosen, web.options);
    return chosen.method === 'http' ? findKept?.(url) : undefined;
  };
  const fetched = await fetchDocument(start, run, findStale);
  if (!fetched.ok) return fetched;
  const {value: source} = fetched;
  if ('notModified' in source) return ok(source);
  const origin = chosen.method === 'browser' ? chosen.origin : undefined;
  const page = early ?? (origin && (await openBrowserPage(source.url, run, web)));
  // Plain text is its own rendering (FR-WF-10f); Chromium would wrap it in markup.
  const isShown = source.media === 'html' || page?.ok === false;
  return origin && page && isShown ? reader.inBrowser(page, source, origin) : reader.httpFirst(source);
}

/** Makes pages of the documents of one call. */
class Reader {
  readonly #run: FetchRun;
  readonly #web: WebContext;
  readonly #maxChunkTokens: number;

  constructor(run: FetchRun, web: WebContext, maxChunkTokens: number) {
    this.#run = run;
    this.#web = web;
    this.#maxChunkTokens = maxChunkTokens;
  }

  /** FR-WF-12a, FR-WF-12b. */
  async inBrowser(
    page: Result<OpenPage>,
    source: RawDocument,
    origin: 'forced' | 'js_heavy',
  ): Promise<Result<Content>> {
    const rendered = await this.#render(page, source, origin);
    if (rendered.ok || origin === 'forced' || rendered.error.code !== 'browser_unavailable') return rendered;
    // Ruling G3: a js_heavy page is fetched over HTTP where there is no browser.
    const http = await this.#http(source);
    return http.ok ? ok(withoutBrowser(http.value, origin)) : http;
  }

  async httpFirst(fetched: RawDocument): Promise<Result<Content>> {
    const linked = await this.#alternate(fetched, linkedMarkdown(fetched.headers));
    if (linked) return ok(linked);
    const http = await this.#http(fetched);
    if (!http.ok) return http;
    const {source, about, page: read, spaIndicators} = http.value;
    const named = await this.#alternate(source, about.alternate);
    if (named) return ok(named);
    const {browser, rendering} = this.#web.options;
    // FR-WF-12c: little text, the marks of an application, and a plain 200.
    const looksEmpty =
      source.status === 200 && spaIndicators && read.markdown.length < rendering.min_extracted_chars;
    if (!looksEmpty) return http;
    if (!browser.enabled || !rendering.spa_fallback_enabled) {
      return ok({...http.value, origin: 'fallback', isRefreshable: false});
    }
    // The browser would ask with the same headers, so it is given the document that is already here.
    const page = await openBrowserPage(source.url, this.#run, this.#web);
    const rendered = await this.#render(page, source, 'fallback');
    if (rendered.ok || !BROWSER_TROUBLE.has(rendered.error.code)) return rendered;
    const content = withoutBrowser(http.value, 'fallback');
    // FR-WF-12d; without a browser it will be no other next time, after a crash it may be.
    return ok(rendered.error.code === 'browser_unavailable' ? content : {...content, uncacheable: true});
  }

  /**
   * Ruling R3: a page that names a version of itself in Markdown is read there. It passes what every hop passes, and
   * stays at the page's own origin. Where it cannot be had, the page itself is read.
   */
  async #alternate({url, media}: RawDocument, reference: string | undefined): Promise<Content | undefined> {
    if (reference === undefined || !this.#run.accepts.has('markdown') || media !== 'html') return undefined;
    const fetched = await fetchAlternate(reference, url, this.#run);
    const read = fetched.ok ? await this.#http(fetched.value) : fetched;
    if (!read.ok || read.value.page.markdown === '') return undefined;
    const facts = {media: 'markdown', alternate: read.value.source.url.canonical} as const;
    return {...read.value, page: {...read.value.page, finalUrl: url.canonical, facts}};
  }

  async #http(fetched: RawDocument): Promise<Result<Content>> {
    const read = await this.#convert(fetched, fetched, fetched.url.canonical, 'http', []);
    return read.ok ? ok({...read.value, isRefreshable: fetched.status === 200}) : read;
  }

  async #render(
    page: Result<OpenPage>,
    source: RawDocument,
    origin: RenderingReason,
  ): Promise<Result<Content>> {
    const rendered = page.ok ? await renderDocument(page.value, source, this.#run) : page;
    if (!rendered.ok) return rendered;
    const {raw, finalUrl, notes} = rendered.value;
    const read = await this.#convert(raw, source, finalUrl, 'browser', notes);
    return read.ok ? ok({...read.value, origin}) : read;
  }

  /** Bytes to a page with the plan of its chunks, for what came over HTTP and for what a browser made of it alike. */
  async #convert(
    {bytes, media, headerCharset}: RawDocument,
    source: RawDocument,
    finalUrl: string,
    method: Page['method'],
    found: readonly Note[],
  ): Promise<Result<Content>> {
    const {honor_base_href: honorBaseHref, mode} = this.#web.options.extraction;
    const converted = await this.#web.workers.run(
      {
        kind: 'convert',
        ...{bytes, media, headerCharset, baseUrl: finalUrl, honorBaseHref, mode},
        maxTokens: this.#maxChunkTokens,
      },
      this.#run.budget,
    );
    if (!converted.ok) return converted;
    const {document, plan, charsetFallback, spaIndicators, about, bytes: left} = converted.value;
    const notes: Note[] = charsetFallback ? [...found, 'charset_fallback'] : [...found];
    const isPage = source.media === 'html' || source.media === 'text';
    const facts = isPage ? {...about.byline} : {media: source.media};
    const fetchedAt = timestamp(source.fetchedAt);
    return ok({
      page: {...document, finalUrl, fetchedAt, method, plan, notes, facts},
      // The bytes went into the conversion, and come out of it.
      source: {...source, bytes: left},
      spaIndicators,
      about,
      isRefreshable: false,
    });
  }
}

function withoutBrowser(content: Content, origin: RenderingReason): Content {
  const notes = ['browser_unavailable_used_http', ...content.page.notes] as const;
  return {...content, page: {...content.page, notes}, origin, isRefreshable: false};
}
