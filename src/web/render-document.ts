import {Budget} from '../core/budget.ts';
import {ok, type Result} from '../core/result.ts';
import type {OpenPage} from './browser/open-page.ts';
import type {ChunkPlan} from './chunk/plan-chunks.ts';
import {convertDocument} from './convert-document.ts';
import type {FetchedDocument} from './fetch-document.ts';
import type {FetchParts} from './fetch-parts.ts';
import {mainDocument} from './main-document.ts';
import type {ExtractedDocument, Note} from './page.ts';

/** FR-WF-TIMEOUT-01: `page_load_buffer_s`, what a browser may take beside waiting for its page. */
const PAGE_LOAD_BUFFER_MS = 5000;

export interface RenderedDocument {
  readonly finalUrl: string;
  readonly document: ExtractedDocument;
  readonly plan: ChunkPlan;
  readonly notes: readonly Note[];
}

/**
 * Runs a document that has been fetched, and extracts what it has become. The browser has a budget of
 * its own, during which that of the fetch stands still (FR-WF-TIMEOUT-01).
 */
export async function renderDocument(
  page: OpenPage,
  {url, headers, raw}: FetchedDocument,
  maxTokens: number,
  parts: FetchParts,
  budget: Budget,
): Promise<Result<RenderedDocument>> {
  // Plain text is its own rendering (FR-WF-10f); Chromium would wrap it in markup.
  if (raw.media !== 'html') {
    const text = await convertDocument(raw, url.canonical, maxTokens, parts, budget);
    if (!text.ok) return text;
    const {document, plan, charsetFallback} = text.value;
    const notes: Note[] = charsetFallback ? ['charset_fallback'] : [];
    return ok({finalUrl: url.canonical, document, plan, notes});
  }

  const first = mainDocument(url, headers, raw);
  const rendered = await budget.pausedFor(async () => {
    const ms = parts.options.browser.network_idle_ms + PAGE_LOAD_BUFFER_MS;
    const rendering = new Budget(ms, parts.clock, budget.signal);
    const result = await page.render(first, rendering);
    rendering.close();
    return result;
  });
  if (!rendered.ok) return rendered;
  const {html, document: shown, notes} = rendered.value;
  const source = {bytes: Buffer.from(html, 'utf8'), media: 'html', headerCharset: 'utf-8'} as const;
  const converted = await convertDocument(source, shown.url, maxTokens, parts, budget);
  if (!converted.ok) return converted;
  return ok({
    finalUrl: shown.url,
    document: converted.value.document,
    plan: converted.value.plan,
    notes: shown.charsetFallback ? [...notes, 'charset_fallback'] : notes,
  });
}
