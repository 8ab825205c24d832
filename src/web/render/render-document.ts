import {Budget} from '../../core/budget.ts';
import type {Clock} from '../../core/clock.ts';
import {fail} from '../../core/failure/fail.ts';
import {ok, type Result} from '../../core/result.ts';
import type {OpenPage} from '../browser/open-page.ts';
import {type ConvertDeps, convertDocument} from '../convert/convert-document.ts';
import type {ConvertedDocument} from '../convert/jobs.ts';
import type {WebFetchOptions} from '../options.ts';
import type {ChunkPlan, ExtractedDocument, FetchedDocument, Note} from '../page.ts';
import {mainDocument} from './main-document.ts';
import {PAGE_LOAD_BUFFER_MS} from './page-load-buffer.ts';

export interface RenderDeps extends ConvertDeps {
  readonly options: Pick<WebFetchOptions, 'browser' | 'extraction'>;
  readonly clock: Clock;
}

export interface RenderedDocument {
  readonly finalUrl: string;
  readonly document: ExtractedDocument;
  readonly plan: ChunkPlan;
  readonly notes: readonly Note[];
  readonly about: ConvertedDocument['about'];
}

/**
 * Runs a document in HTML that has been fetched, and extracts what it has become. The browser has a budget of
 * its own, during which that of the fetch stands still (FR-WF-TIMEOUT-01).
 */
export async function renderDocument(
  page: OpenPage,
  {url, headers, raw}: FetchedDocument,
  maxTokens: number,
  deps: RenderDeps,
  budget: Budget,
): Promise<Result<RenderedDocument>> {
  const turn = await awaitTurn(page, deps, budget);
  if (!turn.ok) return turn;
  const first = mainDocument(url, headers, raw);
  const rendered = await budget.pausedFor(async () => {
    const ms = deps.options.browser.network_idle_ms + PAGE_LOAD_BUFFER_MS;
    const rendering = new Budget(ms, deps.clock, budget.signal);
    try {
      return await page.render(first, rendering);
    } finally {
      rendering.close();
    }
  });
  if (!rendered.ok) return rendered;
  const {html, document: shown, notes} = rendered.value;
  const source = {bytes: Buffer.from(html, 'utf8'), media: 'html', headerCharset: 'utf-8'} as const;
  const converted = await convertDocument(source, shown.url, maxTokens, deps, budget);
  if (!converted.ok) return converted;
  return ok({
    finalUrl: shown.url,
    document: converted.value.document,
    plan: converted.value.plan,
    about: converted.value.about,
    notes: shown.charsetFallback ? [...notes, 'charset_fallback'] : notes,
  });
}

/** Review R13: the wait for a place among the Chromiums has a budget of its own, so that a crowd does not fail as one. */
async function awaitTurn(
  page: OpenPage,
  {options, clock}: RenderDeps,
  budget: Budget,
): Promise<Result<undefined>> {
  const {max_wait_seconds: seconds, max_instances: most} = options.browser;
  const turn = await budget.pausedFor(async () => {
    const waiting = new Budget(seconds * 1000, clock, budget.signal);
    waiting.enter('browser');
    try {
      return await waiting.race(page.turn);
    } finally {
      waiting.close();
    }
  });
  if (turn.ok) return ok();
  if (turn.error.code !== 'timeout') return turn;
  return fail(
    'timeout',
    `No Chromium was free within ${seconds} s; at most ${most} run at a time (tools.webfetch.browser.max_instances). Retry later, or raise it.`,
    turn.error.details,
  );
}
