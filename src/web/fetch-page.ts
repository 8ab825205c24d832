// The spine of `web_fetch`: a URL becomes chunks that fit. Also writes the two log lines of a fetch.

import {Deadline} from '../core/deadline.ts';
import {ok, type Result} from '../core/result.ts';
import {toUrl} from '../core/text/parse.ts';
import {readBlockedResources} from './browser/requests.ts';
import {chunksOf} from './chunk/plan-chunks.ts';
import {findCached} from './find-cached.ts';
import {fitToBudget} from './fit-to-budget.ts';
import {checkUrl} from './guard/check-url.ts';
import {checkPortSetting} from './guard/policy.ts';
import {loadShared} from './load-shared.ts';
import type {ExtractionMode} from './options.ts';
import type {ChunkPlan, FetchLimits, FetchOutcome, FetchRequest, Page} from './page.ts';
import {chooseRendering, expectedRendering} from './rendering.ts';
import {countTokens} from './tokens/count-tokens.ts';
import {parseUrl, redactUrl} from './url.ts';
import type {WebContext} from './web-context.ts';

/** The first check that fails ends the call, and nothing after it runs. (A1) */
export async function fetchPage(
  {url: requested, max_chunk_tokens: maxChunkTokens, no_cache: noCache, force_browser, mode}: FetchRequest,
  {maxBytes, signal, mayReach, reading}: FetchLimits,
  common: WebContext,
): Promise<Result<FetchOutcome>> {
  const web = withMode(common, mode);
  const settings = checkSettings(web);
  if (!settings.ok) return settings;

  const url = parseUrl(requested);
  if (!url.ok) return url;
  const start = checkUrl(url.value, web.policy, true);
  if (!start.ok) return start;

  const rendering = chooseRendering(url.value, force_browser, web.options);
  const request = {start: start.value, rendering, noCache, maxChunkTokens, mayReach, reading};
  const cached = noCache ? undefined : await findCached(request, web);
  const loaded = cached ? ok(cached) : await loadShared(request, signal, web);
  if (!loaded.ok) return loaded;
  const page = loaded.value;

  const plan = await planPage(page, maxChunkTokens, signal, web);
  if (!plan.ok) return plan;

  const {markdown, title, language} = page;
  const fitted = fitToBudget(
    {
      requested_url: requested,
      final_url: page.finalUrl,
      fetched_at: page.fetchedAt,
      ...(title !== undefined && {title}),
      ...(language !== undefined && {language}),
      chunks: chunksOf(markdown, plan.value.chunks),
      rendering_method: page.method,
      notes: page.notes,
    },
    maxBytes,
    countTokens,
  );
  return fitted.ok ? ok({response: fitted.value, page}) : fitted;
}

/** A shared or cached page may lack chunks of this size. (FR-WF-15) */
export async function planPage(
  {markdown, plan, remainingMs}: Page,
  maxTokens: number,
  signal: AbortSignal | undefined,
  web: WebContext,
): Promise<Result<ChunkPlan>> {
  if (plan?.maxTokens === maxTokens) return ok(plan);
  const job = {kind: 'chunk', markdown, maxTokens} as const;
  return withBudget(web, signal, budget => web.workers.run(job, budget), remainingMs);
}

/** Ruling C3: work on a page has a deadline of its own, or what its fetch has left. */
export async function withBudget<Value>(
  {options, clock}: WebContext,
  signal: AbortSignal | undefined,
  work: (budget: Deadline) => Promise<Result<Value>>,
  ms?: number,
): Promise<Result<Value>> {
  const whole = options.timeout_seconds * 1000;
  const budget = new Deadline(ms ?? whole, clock, signal, {total: whole});
  try {
    return await work(budget);
  } finally {
    budget.close();
  }
}

function withMode(web: WebContext, mode: ExtractionMode | undefined): WebContext {
  const {options} = web;
  if (mode === undefined || mode === options.extraction.mode) return web;
  return {...web, options: {...options, extraction: {...options.extraction, mode}}};
}

/** Ruling A9: these settings are checked at every call, not at start-up. */
function checkSettings({options, policy}: WebContext): Result<undefined> {
  const ports = checkPortSetting(policy);
  if (!ports.ok) return ports;
  const blocked = readBlockedResources(options.browser.block_resources);
  return blocked.ok ? ok() : blocked;
}

/** FR-WF-19b, FR-WF-19c: a line when a fetch starts and one when it ends; query strings never get in. */
export async function logFetch(
  request: FetchRequest,
  {log, clock, options}: WebContext,
  work: () => Promise<Result<FetchOutcome>>,
): Promise<Result<FetchOutcome>> {
  const start = clock.monotonic();
  const requested = {
    url: redactUrl(request.url),
    requested_host: toUrl(request.url)?.hostname ?? '',
    rendering_method: expectedRendering(request, options),
  } as const;
  log({level: 'info', event: 'fetch_start', ...requested, cache_hit: false});
  const outcome = await work();
  const duration_ms = Math.round(clock.monotonic() - start);
  if (outcome.ok) {
    const {response} = outcome.value;
    log({
      level: 'info',
      event: 'fetch_complete',
      ...requested,
      rendering_method: response.rendering_method,
      cache_hit: response.notes.includes('cache_hit'),
      final_url: redactUrl(response.final_url),
      chunks: response.chunks.length,
      notes: response.notes,
      duration_ms,
    });
  } else {
    const {code, message, details} = outcome.error;
    const guard = code === 'ssrf_blocked' || code === 'port_blocked';
    log({
      level: guard ? 'warn' : 'info',
      event: guard ? code : 'fetch_failed',
      ...requested,
      cache_hit: false,
      error_code: code,
      message,
      details,
      duration_ms,
    });
  }
  return outcome;
}
