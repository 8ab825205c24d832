// The spine of `web_read` and `verify_quote`: loads a document or a kept snapshot and asks about it.

import {type Err, type Failure, fail, ok, type Result} from '../core/result.ts';
import {withLineFeeds} from './chunk/blocks.ts';
import {fetchPage, logFetch, withBudget} from './fetch-page.ts';
import {checkUrl} from './guard/check-url.ts';
import {HostReach} from './navigate/fetch-run.ts';
import {type FetchLimits, type FetchOutcome, LICENSE_REQUIRED} from './page.ts';
import type {Links} from './read/readable-page.ts';
import {type Ask, type QuoteCheck, type Reading, snapshotOf} from './read/reading.ts';
import type {SnapshotPage} from './snapshots.ts';
import {parseUrl, redactUrl} from './url.ts';
import type {WebContext} from './web-context.ts';

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

/** Ruling R1: what an answer needs of a page. The page comes as it does for `web_fetch`; the rest is done in a thread. */
export async function readPage(
  request: ReadRequest,
  limits: ReadLimits,
  web: WebContext,
): Promise<Result<ReadOutcome>> {
  const page = await loadSnapshot(request, limits, web);
  if (!page.ok) return page;
  const {ask, maxTokens, links, since} = request;
  const {markdown} = page.value;
  const earlier = await findEarlier(request, page.value, limits, web);
  const reading = await withBudget(web, limits.signal, budget =>
    web.workers.run({kind: 'read', markdown, ask, maxTokens, links, since, earlier}, budget),
  );
  if (!reading.ok) return reading;
  return reading.value.ok ? ok({page: page.value, reading: reading.value.value}) : reading.value;
}

/** The text of the snapshot that a page is compared with, if it is still kept and may be read. */
async function findEarlier(
  {url, since}: ReadRequest,
  page: SnapshotPage,
  {mayReach}: ReadLimits,
  {snapshots}: WebContext,
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
  web: WebContext,
): Promise<Result<QuoteOutcome>> {
  const page = await loadSnapshot(request, limits, web);
  if (!page.ok) return page;
  const {markdown} = page.value;
  const {quotes} = request;
  const checks = await withBudget(web, limits.signal, budget =>
    web.workers.run({kind: 'quote', markdown, quotes}, budget),
  );
  return checks.ok ? ok({page: page.value, checks: checks.value}) : checks;
}

/** A snapshot that is kept needs no request, but the static checks of its address (ruling A1). */
async function loadSnapshot(
  request: DocumentRequest,
  limits: ReadLimits,
  web: WebContext,
): Promise<Result<SnapshotPage>> {
  const {options, policy, log, snapshots} = web;
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
  const max_chunk_tokens = options.default_max_chunk_tokens;
  const asked = {url: request.url, max_chunk_tokens, no_cache, force_browser, mode: web.readingMode};
  const maxAgeMs = max_age === undefined ? undefined : max_age * 1000;
  const wide = {...limits, maxBytes: Number.POSITIVE_INFINITY, reading: {accepts: web.reads, maxAgeMs}};
  const fetched = await logFetch(asked, web, () => fetchPage(asked, wide, web));
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

function snapshotPage({response, page}: FetchOutcome): SnapshotPage {
  const markdown = withLineFeeds(page.markdown);
  return {...page, snapshot: snapshotOf(markdown), markdown, notes: response.notes};
}
