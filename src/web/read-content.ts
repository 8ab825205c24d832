import type {Budget} from '../core/budget.ts';
import type {FailureCode} from '../core/failure/failure-codes.ts';
import {ok, type Result} from '../core/result.ts';
import type {OpenPage} from './browser/open-page.ts';
import type {RenderingReason} from './cache/entry.ts';
import {convertDocument} from './convert/convert-document.ts';
import {type FetchDocumentDeps, fetchDocument} from './navigate/fetch-document.ts';
import type {Navigation} from './navigate/navigation.ts';
import type {WebFetchOptions} from './options.ts';
import type {
  CheckedUrl,
  ChunkPlan,
  ExtractedDocument,
  FetchedDocument,
  Note,
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
  /** The next attempt may do better: not for the cache. */
  readonly uncacheable?: true;
}

export type ContentDeps = FetchDocumentDeps &
  RenderDeps & {readonly options: Pick<WebFetchOptions, 'rendering'>};

/** One call under way. */
export interface ContentCall {
  readonly deps: ContentDeps;
  readonly navigation: Navigation;
  readonly budget: Budget;
  readonly maxChunkTokens: number;
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
export function readContent(
  start: CheckedUrl,
  rendering: Rendering,
  call: ContentCall,
): Promise<Result<Content>> {
  return rendering.method === 'browser'
    ? readInBrowser(start, rendering.origin, call)
    : readHttpFirst(start, call);
}

/** FR-WF-12a, FR-WF-12b. Chromium starts while the document is fetched. */
async function readInBrowser(
  start: CheckedUrl,
  origin: 'forced' | 'js_heavy',
  call: ContentCall,
): Promise<Result<Content>> {
  const page = await call.open(start.url);
  // FR-WF-11a
  if (!page.ok && origin === 'forced') return page;
  const fetched = await fetchDocument(start, call.navigation, call.deps, call.budget);
  if (!fetched.ok) return fetched;
  const rendered = await render(page, fetched.value, origin, call);
  if (rendered.ok || origin === 'forced' || rendered.error.code !== 'browser_unavailable') return rendered;
  // Ruling G3: a js_heavy page is fetched over HTTP where there is no browser.
  const http = await readHttp(fetched.value, call);
  return http.ok ? ok(withoutBrowser(http.value)) : http;
}

async function readHttpFirst(start: CheckedUrl, call: ContentCall): Promise<Result<Content>> {
  const fetched = await fetchDocument(start, call.navigation, call.deps, call.budget);
  if (!fetched.ok) return fetched;
  const http = await readHttp(fetched.value, call);
  if (!http.ok || !looksEmpty(http.value, call.deps)) return http;
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
}

async function readHttp(fetched: FetchedDocument, call: ContentCall): Promise<Result<HttpContent>> {
  const finalUrl = fetched.url.canonical;
  const {raw} = fetched;
  const converted = await convertDocument(raw, finalUrl, call.maxChunkTokens, call.deps, call.budget);
  if (!converted.ok) return converted;
  const {document, plan, bytes, charsetFallback, spaIndicators} = converted.value;
  // The bytes went into the conversion, and come out of it.
  const source = {...fetched, raw: {...raw, bytes}};
  const notes: Note[] = charsetFallback ? ['charset_fallback'] : [];
  return ok({source, finalUrl, method: 'http', document, plan, notes, spaIndicators});
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
  const {method, finalUrl, document, plan, notes} = rendered.value;
  const rendering = method === 'browser' ? {method, origin} : {method};
  return ok({source, finalUrl, ...rendering, document, plan, notes: notes});
}

function withoutBrowser({spaIndicators: _, ...content}: HttpContent): Content {
  return {...content, notes: ['browser_unavailable_used_http', ...content.notes]};
}
