import {ok, type Result} from '../core/result.ts';
import {type CheckSettingsDeps, checkSettings} from './check-settings.ts';
import {chunksOf} from './chunk/plan-chunks.ts';
import {type PlanPageDeps, planPage} from './convert/plan-page.ts';
import {type FindCachedDeps, findCached} from './find-cached.ts';
import {fitToBudget} from './fit/fit-to-budget.ts';
import {checkUrl} from './guard/check-url.ts';
import {type LoadSharedDeps, loadShared} from './load-shared.ts';
import type {MayReach} from './navigate/host-reach.ts';
import type {ExtractionMode, WebFetchOptions} from './options.ts';
import type {FetchResponse, PageFacts, ReadingTerms} from './page.ts';
import {chooseRendering, type RenderingSettings} from './render/choose-rendering.ts';
import {countTokens} from './tokens/count-tokens.ts';
import {parseUrl} from './url/parse-url.ts';

/** FR-WF-02, validated, with defaults filled in. */
export interface FetchRequest {
  readonly url: string;
  readonly max_chunk_tokens: number;
  readonly no_cache: boolean;
  readonly force_browser: boolean;
  /** R2: what is taken for the content. Default: what the options say. */
  readonly mode?: ExtractionMode;
}

export interface FetchLimits {
  /** Ruling E7: the bytes of the compact JSON of the response. */
  readonly maxBytes: number;
  readonly signal: AbortSignal | undefined;
  /** Review R11: asked about every host that the fetch is led to. Default: all are allowed. */
  readonly mayReach?: MayReach | undefined;
  /** Rulings R1 and R3: for reading tools, which want more of a page than the SRD says of `web_fetch`. */
  readonly reading?: ReadingTerms | undefined;
}

export interface FetchOutcome {
  readonly response: FetchResponse;
  /** The whole document, of which the chunks are pieces. */
  readonly markdown: string;
  readonly facts: PageFacts;
}

/** Each stage says what it needs, and sees nothing else. */
export type FetchPageDeps = CheckSettingsDeps &
  FindCachedDeps &
  LoadSharedDeps &
  PlanPageDeps & {
    readonly options: RenderingSettings & Pick<WebFetchOptions, 'extraction'>;
  };

/**
 * The spine: a URL becomes chunks that fit (SRD appendix B, order as in ruling A1).
 * The first check that fails ends the call, and nothing after it runs.
 */
export async function fetchPage(
  request: FetchRequest,
  {maxBytes, signal, mayReach, reading}: FetchLimits,
  common: FetchPageDeps,
): Promise<Result<FetchOutcome>> {
  const {
    url: requested,
    max_chunk_tokens: maxChunkTokens,
    no_cache: noCache,
    force_browser: forced,
  } = request;
  const deps = withMode(common, request.mode);
  const settings = checkSettings(deps);
  if (!settings.ok) return settings;

  const url = parseUrl(requested);
  if (!url.ok) return url;
  const start = checkUrl(url.value, deps.policy, true);
  if (!start.ok) return start;

  const rendering = chooseRendering(url.value, forced, deps.options);
  const cached = noCache ? undefined : await findCached(start.value, rendering, {mayReach, reading}, deps);
  const page = cached
    ? ok(cached)
    : await loadShared(start.value, {rendering, noCache, maxChunkTokens, mayReach, reading, signal}, deps);
  if (!page.ok) return page;
  const {finalUrl, fetchedAt, method, document, notes, facts} = page.value;

  const plan = await planPage(page.value, maxChunkTokens, signal, deps);
  if (!plan.ok) return plan;

  const {markdown, title, language} = document;
  const fitted = fitToBudget(
    {
      requested_url: requested,
      final_url: finalUrl,
      fetched_at: fetchedAt,
      ...(title !== undefined && {title}),
      ...(language !== undefined && {language}),
      chunks: chunksOf(markdown, plan.value.chunks),
      rendering_method: method,
      notes,
    },
    maxBytes,
    countTokens,
  );
  return fitted.ok ? ok({response: fitted.value, markdown, facts}) : fitted;
}

function withMode(deps: FetchPageDeps, mode: ExtractionMode | undefined): FetchPageDeps {
  const {options} = deps;
  if (mode === undefined || mode === options.extraction.mode) return deps;
  return {...deps, options: {...options, extraction: {...options.extraction, mode}}};
}
