import {Budget} from '../core/budget.ts';
import {fail} from '../core/failure/fail.ts';
import {randomHex} from '../core/random.ts';
import {ok, type Result} from '../core/result.ts';
import {readBlockedResources} from './browser/requests/blocked-resources.ts';
import {chunksOf} from './chunk/plan-chunks.ts';
import type {FetchDeps} from './fetch-deps.ts';
import {findCached} from './find-cached.ts';
import {fitToBudget} from './fit/fit-to-budget.ts';
import {checkUrl} from './guard/check-url.ts';
import {checkPortSetting} from './guard/guard-policy.ts';
import {loadPage} from './load-page.ts';
import {HostReach, type MayReach} from './navigate/host-reach.ts';
import type {CheckedUrl, ChunkPlan, FetchResponse, LoadedPage} from './page.ts';
import {chooseRendering, type Rendering} from './render/choose-rendering.ts';
import {countTokens} from './tokens/count-tokens.ts';
import {parseUrl} from './url/parse-url.ts';

/** FR-WF-02, validated, with defaults filled in. */
export interface FetchRequest {
  readonly url: string;
  readonly max_chunk_tokens: number;
  readonly no_cache: boolean;
  readonly force_browser: boolean;
}

export interface FetchLimits {
  /** Ruling E7: the bytes of the compact JSON of the response. */
  readonly maxBytes: number;
  readonly signal: AbortSignal | undefined;
  /** Review R11: asked about every host that the fetch is led to. Default: all are allowed. */
  readonly mayReach?: MayReach | undefined;
}

export interface FetchOutcome {
  readonly response: FetchResponse;
  /** The whole document, of which the chunks are pieces. */
  readonly markdown: string;
}

/**
 * The spine: a URL becomes chunks that fit (SRD appendix B, order as in ruling A1).
 * The first check that fails ends the call, and nothing after it runs.
 */
export async function fetchPage(
  request: FetchRequest,
  limits: FetchLimits,
  deps: FetchDeps,
): Promise<Result<FetchOutcome>> {
  const {options} = deps;
  const settings = checkSettings(deps);
  if (!settings.ok) return settings;
  const url = parseUrl(request.url);
  if (!url.ok) return url;
  const checked = checkUrl(url.value, deps.policy);
  if (!checked.ok) return checked;
  const rendering = chooseRendering(url.value, request.force_browser, options);

  let page = request.no_cache ? undefined : await findCached(url.value, rendering, limits.mayReach, deps);
  if (!page) {
    const loaded = await loadShared(checked.value, rendering, request, limits, deps);
    if (!loaded.ok) return loaded;
    page = loaded.value;
  }

  const plan = await planPage(page, request, limits, deps);
  if (!plan.ok) return plan;
  const fitted = fitToBudget(
    {
      requested_url: request.url,
      final_url: page.finalUrl,
      fetched_at: page.fetchedAt,
      ...(page.document.title !== undefined && {title: page.document.title}),
      ...(page.document.language !== undefined && {language: page.document.language}),
      chunks: chunksOf(page.document.markdown, plan.value.chunks),
      rendering_method: page.method,
      notes: page.notes,
    },
    limits.maxBytes,
    countTokens,
  );
  return fitted.ok ? ok({response: fitted.value, markdown: page.document.markdown}) : fitted;
}

/** Ruling F8: identical fetches at the same time are one, as long as their rules on hosts lead them the same way. */
async function loadShared(
  start: CheckedUrl,
  rendering: Rendering,
  request: FetchRequest,
  limits: FetchLimits,
  deps: FetchDeps,
): Promise<Result<LoadedPage>> {
  const wanted = rendering.method === 'browser' ? rendering.origin : 'http';
  const key = `${wanted} ${request.no_cache} ${start.url.canonical}`;
  for (const shareKey of [key, `${key} ${randomHex(8)}`]) {
    const shared = await deps.sharedFetches.share(shareKey, limits.signal, async signal => {
      const reach = new HostReach(start.url, limits.mayReach);
      return {reach, page: await loadPage(start, rendering, request.max_chunk_tokens, deps, reach, signal)};
    });
    if (!shared) break;
    const {page, reach} = shared.value;
    if (reach.agreesWith(limits.mayReach)) return page;
  }
  // Ruling G6: what the cancelled fetch had of a browser is gone before the call returns.
  await deps.browser.settled();
  return fail('cancelled', 'The call was cancelled while the page was fetched.');
}

/** Ruling A9: these settings are checked at every call, not at start-up. */
function checkSettings(deps: FetchDeps): Result<undefined> {
  const ports = checkPortSetting(deps.policy);
  if (!ports.ok) return ports;
  const blocked = readBlockedResources(deps.options.browser.block_resources);
  return blocked.ok ? ok() : blocked;
}

/** Who shares a fetch may want chunks of another size, and from the cache a document comes without any. */
async function planPage(
  {document: {markdown}, counts, plan, remainingMs}: LoadedPage,
  {max_chunk_tokens: maxTokens}: FetchRequest,
  limits: FetchLimits,
  deps: FetchDeps,
): Promise<Result<ChunkPlan>> {
  if (plan?.maxTokens === maxTokens) return ok(plan);
  const total = deps.options.timeout_seconds * 1000;
  const budget = new Budget(remainingMs, deps.clock, limits.signal, total);
  try {
    return await deps.workers.run({kind: 'chunk', markdown, maxTokens, counts}, budget);
  } finally {
    budget.close();
  }
}
