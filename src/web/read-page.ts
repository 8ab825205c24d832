import {Budget} from '../core/budget.ts';
import type {Clock} from '../core/clock.ts';
import {fail} from '../core/failure/fail.ts';
import type {Failure} from '../core/failure/failure.ts';
import type {Log} from '../core/log.ts';
import {type Err, ok, type Result} from '../core/result.ts';
import type {WorkerPool} from './convert/worker-pool.ts';
import type {FetchLimits, FetchOutcome, FetchRequest} from './fetch-page.ts';
import {checkUrl} from './guard/check-url.ts';
import type {GuardPolicy} from './guard/guard-policy.ts';
import {HostReach} from './navigate/host-reach.ts';
import type {ExtractionMode, WebFetchOptions} from './options.ts';
import {type ExtraMedia, LICENSE_REQUIRED, type ReadingTerms} from './page.ts';
import type {QuoteCheck} from './read/quote/quote-check.ts';
import type {Links} from './read/readable-page.ts';
import type {Ask, Reading} from './read/reading.ts';
import {snapshotOf} from './read/snapshot-of.ts';
import {withLineFeeds} from './read/with-line-feeds.ts';
import type {SnapshotPage, Snapshots} from './snapshots.ts';
import {parseUrl} from './url/parse-url.ts';
import {redactUrl} from './url/redact-url.ts';

/** Which document is meant: what the address has now, or what it had under a snapshot. */
export interface DocumentRequest {
  readonly url: string;
  readonly snapshot: string | undefined;
  /** Seconds: a page that its server has not confirmed for longer is asked for again. */
  readonly max_age: number | undefined;
  readonly no_cache: boolean;
  readonly force_browser: boolean;
}

export interface ReadRequest extends DocumentRequest {
  /** The snapshot that the page is compared with. */
  readonly since: string | undefined;
  readonly ask: Ask;
  readonly maxTokens: number;
  readonly links: Links;
}

export interface ReadOutcome {
  readonly page: SnapshotPage;
  readonly reading: Reading;
}

export interface QuoteOutcome {
  readonly page: SnapshotPage;
  readonly checks: readonly QuoteCheck[];
}

/** Of a fetch: what ends it, and where it may be led. */
export type ReadLimits = Pick<FetchLimits, 'signal' | 'mayReach'>;

export interface ReadDeps {
  readonly options: Pick<WebFetchOptions, 'timeout_seconds' | 'default_max_chunk_tokens'>;
  readonly policy: GuardPolicy;
  readonly workers: WorkerPool;
  readonly clock: Clock;
  readonly log: Log;
  readonly snapshots: Snapshots;
  /** Ruling R3 */
  readonly reads: ReadonlySet<ExtraMedia>;
  /** R2: what is taken for the content of a page. */
  readonly mode: ExtractionMode;
  readonly fetchPage: (request: FetchRequest, limits: FetchLimits) => Promise<Result<FetchOutcome>>;
}

/** Ruling R1: what an answer needs of a page. The page comes as it does for `web_fetch`; the rest is done in a thread. */
export async function readPage(
  request: ReadRequest,
  limits: ReadLimits,
  deps: ReadDeps,
): Promise<Result<ReadOutcome>> {
  const page = await loadSnapshot(request, limits, deps);
  if (!page.ok) return page;
  const {ask, maxTokens, links, since} = request;
  const {markdown} = page.value;
  const earlier = await findEarlier(request, page.value, limits, deps);
  const reading = await within(deps, limits.signal, budget =>
    deps.workers.run({kind: 'read', markdown, ask, maxTokens, links, since, earlier}, budget),
  );
  if (!reading.ok) return reading;
  return reading.value.ok ? ok({page: page.value, reading: reading.value.value}) : reading.value;
}

/** The text of the snapshot that a page is compared with, if it is still kept and may be read. */
async function findEarlier(
  {url, since}: ReadRequest,
  page: SnapshotPage,
  {mayReach}: ReadLimits,
  {snapshots}: ReadDeps,
): Promise<string | undefined> {
  if (since === undefined) return undefined;
  if (since === page.snapshot) return page.markdown;
  const asked = parseUrl(url);
  if (!asked.ok) return undefined;
  const found =
    (await snapshots.find(asked.value.canonical, since)) ?? (await snapshots.find(page.finalUrl, since));
  const final = parseUrl(found?.finalUrl ?? '');
  return final.ok && new HostReach(asked.value, mayReach).permit(final.value).ok
    ? found?.markdown
    : undefined;
}

/** Ruling R1: whether a page says what it is quoted for. */
export async function quotePage(
  request: DocumentRequest & {readonly quotes: readonly string[]},
  limits: ReadLimits,
  deps: ReadDeps,
): Promise<Result<QuoteOutcome>> {
  const page = await loadSnapshot(request, limits, deps);
  if (!page.ok) return page;
  const {markdown} = page.value;
  const {quotes} = request;
  const checks = await within(deps, limits.signal, budget =>
    deps.workers.run({kind: 'quote', markdown, quotes}, budget),
  );
  return checks.ok ? ok({page: page.value, checks: checks.value}) : checks;
}

/** A snapshot that is kept needs no request, but the static checks of its address (ruling A1). */
async function loadSnapshot(
  request: DocumentRequest,
  limits: ReadLimits,
  {options, policy, log, snapshots, reads, mode, fetchPage}: ReadDeps,
): Promise<Result<SnapshotPage>> {
  const url = parseUrl(request.url);
  if (!url.ok) return url;
  const checked = checkUrl(url.value, policy, true);
  if (!checked.ok) return checked;
  const {canonical, host} = url.value;
  // Review R11: what another call was led to is not for one that may not go there.
  const reach = new HostReach(url.value, limits.mayReach);
  const permitted = (page: SnapshotPage): Result<SnapshotPage> => {
    const final = parseUrl(page.finalUrl);
    const may = final.ok ? reach.permit(final.value) : final;
    return may.ok ? ok(page) : may;
  };
  const {snapshot: wanted, max_age, no_cache, force_browser} = request;
  const kept = wanted === undefined ? undefined : await snapshots.find(canonical, wanted);
  if (kept) {
    log({
      level: 'info',
      event: 'snapshot_read',
      requested_host: host,
      rendering_method: kept.method,
      cache_hit: true,
    });
    return permitted(kept);
  }
  const reading: ReadingTerms = {
    accepts: reads,
    maxAgeMs: max_age === undefined ? undefined : max_age * 1000,
  };
  const max_chunk_tokens = options.default_max_chunk_tokens;
  const fetched = await fetchPage(
    {url: request.url, max_chunk_tokens, no_cache, force_browser, mode},
    {...limits, maxBytes: Number.POSITIVE_INFINITY, reading},
  );
  if (!fetched.ok) return licenseFailure(fetched.error) ?? fetched;
  const page = snapshotPage(fetched.value);
  await snapshots.keep(canonical, page);
  if (wanted === undefined || wanted === page.snapshot) return ok(page);
  // The address may redirect, and another process may have kept what it led to.
  const elsewhere = await snapshots.find(page.finalUrl, wanted);
  if (elsewhere) return permitted(elsewhere);
  return fail(
    'snapshot_gone',
    `Snapshot ${wanted} of ${redactUrl(request.url)} is not kept any more, and the page says something else now (snapshot ${page.snapshot}). Read it again without snapshot.`,
    {snapshot: wanted, current: page.snapshot},
  );
}

/** The same refusal, by a code of its own. */
function licenseFailure({code, message, details}: Failure): Err<Failure> | undefined {
  const {reason, ...rest} = details;
  return code === 'http_4xx' && reason === LICENSE_REQUIRED
    ? fail('license_required', message, rest)
    : undefined;
}

function snapshotPage({response, markdown: text, facts}: FetchOutcome): SnapshotPage {
  const {final_url, fetched_at, title, language, rendering_method, notes} = response;
  const markdown = withLineFeeds(text);
  return {
    snapshot: snapshotOf(markdown),
    markdown,
    ...(title !== undefined && {title}),
    ...(language !== undefined && {language}),
    finalUrl: final_url,
    fetchedAt: fetched_at,
    method: rendering_method,
    notes,
    facts,
  };
}

/** Ruling C3: work on a document has a deadline of its own, behind that of the fetch. */
async function within<Value>(
  {options, clock}: ReadDeps,
  signal: AbortSignal | undefined,
  work: (budget: Budget) => Promise<Result<Value>>,
): Promise<Result<Value>> {
  const budget = new Budget(options.timeout_seconds * 1000, clock, signal);
  try {
    return await work(budget);
  } finally {
    budget.close();
  }
}
