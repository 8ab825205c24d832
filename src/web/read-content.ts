import type {Budget} from '../core/budget.ts';
import type {FailureCode} from '../core/failure/failure-codes.ts';
import {ok, type Result} from '../core/result.ts';
import type {OpenPage} from './browser/open-page.ts';
import type {CacheEntry, RenderingReason} from './cache/entry.ts';
import {convertDocument} from './convert/convert-document.ts';
import type {ConvertedDocument} from './convert/jobs.ts';
import {fetchAlternate} from './navigate/fetch-alternate.ts';
import {type ConfirmedDocument, type FetchDocumentDeps, fetchDocument} from './navigate/fetch-document.ts';
import type {Recall} from './navigate/follow-redirects.ts';
import type {Navigation} from './navigate/navigation.ts';
import type {WebFetchOptions} from './options.ts';
import type {
  CheckedUrl,
  ChunkPlan,
  ExtractedDocument,
  ExtraMedia,
  FetchedDocument,
  KeptDocument,
  Note,
  PageFacts,
  RawDocument,
  RenderingMethod,
  WebUrl,
} from './page.ts';
import type {Rendering} from './render/choose-rendering.ts';
import {type RenderDeps, renderDocument} from './render/render-document.ts';

/** What a document says, and how that was found out. */
export interface Content {
  readonly source: FetchedDocument;
  readonly finalUrl: string;
  readonly method: RenderingMethod;
  /** Of browser content. */
  readonly origin?: RenderingReason;
  readonly document: ExtractedDocument;
  /** Its chunks, of the size that the call asks for. */
  readonly plan: ChunkPlan;
  /** Ruling F3: what describes the content is kept with it. */
  readonly notes: readonly Note[];
  readonly facts: PageFacts;
  /** The licence that the page names. */
  readonly license: string | undefined;
  /** The server's own document, not what a browser made of it: it can be asked about. */
  readonly isRefreshable: boolean;
  /** The next attempt may do better: not for the cache. */
  readonly uncacheable?: true;
}

/** A page of the cache that its server is asked about. */
export interface KeptPage extends KeptDocument {
  readonly entry: CacheEntry;
  readonly finalUrl: string;
}

export type ContentDeps = RenderDeps & {
  readonly options: Pick<WebFetchOptions, 'rendering' | 'max_download_bytes'>;
};

/** One call under way. */
export interface ContentCall {
  readonly deps: ContentDeps;
  readonly navigation: Navigation;
  readonly budget: Budget;
  readonly maxChunkTokens: number;
  /** What is read beside HTML and plain text (rulings C5, R3). */
  readonly accepts: ReadonlySet<ExtraMedia>;
  /** What is kept of an address; for calls that may be answered with it. */
  readonly recall: Recall<KeptPage> | undefined;
  /** Starts a browser that is closed when the call ends. */
  readonly open: (url: WebUrl) => Promise<Result<OpenPage>>;
}

/** Ruling G4: after these, a page that only looked like an application is what came over HTTP. */
const BROWSER_TROUBLE: ReadonlySet<FailureCode> = new Set([
  'browser_unavailable',
  'browser_crashed',
  'timeout',
]);

/** SRD B.3: in the browser where that was chosen up front, else over HTTP first (FR-WF-12). */
export async function readContent(
  start: CheckedUrl,
  rendering: Rendering,
  call: ContentCall,
): Promise<Result<Content | ConfirmedDocument<KeptPage>>> {
  const origin = rendering.method === 'browser' ? rendering.origin : undefined;
  // Chromium starts while the document is fetched.
  const page = origin && (await call.open(start.url));
  // FR-WF-11a
  if (page?.ok === false && origin === 'forced') return page;
  const recall = page === undefined ? call.recall : undefined;
  const fetched = await fetchDocument(start, call.navigation, {...documentDeps(call), recall}, call.budget);
  if (!fetched.ok) return fetched;
  if ('confirmed' in fetched.value) return ok(fetched.value);
  // Plain text is its own rendering (FR-WF-10f); Chromium would wrap it in markup.
  const isShown = fetched.value.raw.media === 'html' || page?.ok === false;
  return origin && page && isShown
    ? readInBrowser(page, fetched.value, origin, call)
    : readHttpFirst(fetched.value, call);
}

/** FR-WF-12a, FR-WF-12b. */
async function readInBrowser(
  page: Result<OpenPage>,
  fetched: FetchedDocument,
  origin: 'forced' | 'js_heavy',
  call: ContentCall,
): Promise<Result<Content>> {
  const rendered = await render(page, fetched, origin, call);
  if (rendered.ok || origin === 'forced' || rendered.error.code !== 'browser_unavailable') return rendered;
  // Ruling G3: a js_heavy page is fetched over HTTP where there is no browser.
  const http = await readHttp(fetched, call);
  return http.ok ? ok(withoutBrowser(http.value)) : http;
}

async function readHttpFirst(fetched: FetchedDocument, call: ContentCall): Promise<Result<Content>> {
  const linked = await readAlternate(fetched, fetched.alternateLink, call);
  if (linked) return ok(linked);
  const http = await readHttp(fetched, call);
  if (!http.ok) return http;
  const named = await readAlternate(http.value.source, http.value.alternateLink, call);
  if (named) return ok(named);
  if (!looksEmpty(http.value, call.deps)) return http;
  // The browser would ask with the same headers, so it is given the document that is already here.
  const page = await call.open(http.value.source.url);
  const rendered = await render(page, http.value.source, 'fallback', call);
  if (rendered.ok || !BROWSER_TROUBLE.has(rendered.error.code)) return rendered;
  const content = withoutBrowser(http.value);
  // FR-WF-12d; without a browser it will be no other next time, after a crash it may be.
  return ok(rendered.error.code === 'browser_unavailable' ? content : {...content, uncacheable: true});
}

interface HttpContent extends Content {
  readonly spaIndicators: boolean;
  /** What `<link rel=alternate type=text/markdown>` names. */
  readonly alternateLink: string | undefined;
}

function documentDeps({deps, accepts}: ContentCall): FetchDocumentDeps {
  return {clock: deps.clock, terms: {maxBytes: deps.options.max_download_bytes, accepts}};
}

/**
 * Ruling R3: a page that names a version of itself in Markdown is read there. It passes what every hop passes, and
 * stays at the page's own origin. Where it cannot be had, the page itself is read.
 */
async function readAlternate(
  page: FetchedDocument,
  reference: string | undefined,
  call: ContentCall,
): Promise<Content | undefined> {
  const {accepts, navigation, budget} = call;
  if (reference === undefined || !accepts.has('markdown') || page.raw.media !== 'html') return undefined;
  const fetched = await fetchAlternate(reference, page.url, navigation, documentDeps(call), budget);
  if (!fetched.ok) return undefined;
  const read = await readHttp(fetched.value, call);
  if (!read.ok || read.value.document.markdown === '') return undefined;
  const {spaIndicators: _, alternateLink: __, ...content} = read.value;
  const facts = {media: 'markdown', alternate: fetched.value.url.canonical} as const;
  return {...content, finalUrl: page.url.canonical, facts};
}

async function readHttp(fetched: FetchedDocument, call: ContentCall): Promise<Result<HttpContent>> {
  const finalUrl = fetched.url.canonical;
  const {raw} = fetched;
  const converted = await convertDocument(raw, finalUrl, call.maxChunkTokens, call.deps, call.budget);
  if (!converted.ok) return converted;
  const {document, plan, bytes, charsetFallback, spaIndicators, about} = converted.value;
  // The bytes went into the conversion, and come out of it.
  const source = {...fetched, raw: {...raw, bytes}};
  const notes: Note[] = charsetFallback ? ['charset_fallback'] : [];
  return ok({
    source,
    finalUrl,
    method: 'http',
    document,
    plan,
    notes,
    ...factsOf(raw, about),
    isRefreshable: raw.status === 200,
    spaIndicators,
    alternateLink: about.alternate,
  });
}

/** FR-WF-12c: little text, the marks of an application, and a plain 200. */
function looksEmpty({source, document, spaIndicators}: HttpContent, {options}: ContentDeps): boolean {
  const {spa_fallback_enabled, min_extracted_chars} = options.rendering;
  return (
    options.browser.enabled &&
    spa_fallback_enabled &&
    source.raw.status === 200 &&
    spaIndicators &&
    document.markdown.length < min_extracted_chars
  );
}

async function render(
  page: Result<OpenPage>,
  source: FetchedDocument,
  origin: RenderingReason,
  {deps, budget, maxChunkTokens}: ContentCall,
): Promise<Result<Content>> {
  if (!page.ok) return page;
  const rendered = await renderDocument(page.value, source, maxChunkTokens, deps, budget);
  if (!rendered.ok) return rendered;
  const {about, ...shown} = rendered.value;
  const said = factsOf(source.raw, about);
  return ok({source, method: 'browser', origin, ...shown, ...said, isRefreshable: false});
}

function factsOf(
  {media}: Pick<RawDocument, 'media'>,
  {byline, license}: ConvertedDocument['about'],
): Pick<Content, 'facts' | 'license'> {
  return {facts: media === 'html' || media === 'text' ? {...byline} : {media}, license};
}

function withoutBrowser({spaIndicators: _, alternateLink: __, ...content}: HttpContent): Content {
  return {...content, notes: ['browser_unavailable_used_http', ...content.notes], isRefreshable: false};
}
