// Fetches a document over redirects: status, media type, body.

import {fail, ok, type Result} from '../../core/result.ts';
import {checkUrl} from '../guard/check-url.ts';
import {
  type CheckedUrl,
  type ExtraMedia,
  type HttpResponse,
  LICENSE_REQUIRED,
  type Media,
  type RawDocument,
  type StaleDocument,
  type WebUrl,
} from '../page.ts';
import {decideMedia, sniffMedia} from '../transport/media.ts';
import {parseUrl, resolveUrl} from '../url.ts';
import {FetchRun, type HopContext, HostReach} from './fetch-run.ts';

interface FinalResponse {
  readonly url: WebUrl;
  readonly response: HttpResponse;
  /** Every hop was a 301 or 308 (ruling F2). */
  readonly permanent: boolean;
}

/** What a server, by a 304, said is still the document (RFC 9110 §15.4.5). */
export interface NotModified<Stale> {
  readonly notModified: Stale;
}

/** The document that is kept of an address, if its server can be asked about it. */
export type FindStale<Stale> = (url: WebUrl) => Promise<Stale | undefined>;

const NOT_MODIFIED = 304;
const MARKDOWN_ONLY: ReadonlySet<ExtraMedia> = new Set(['markdown']);

/**
 * FR-WF-07: opens the first address and each one it leads to, until one has an answer of its own. Where a document
 * of an address is kept, its server is asked whether that one still holds.
 */
async function followRedirects<Stale extends StaleDocument>(
  start: CheckedUrl,
  run: FetchRun,
  findStale?: FindStale<Stale>,
): Promise<Result<FinalResponse & Partial<NotModified<Stale>>>> {
  let current = start;
  let permanent = true;
  let stale = await findStale?.(start.url);
  for (;;) {
    const {url} = current;
    if (stale?.at) {
      const response = await confirmThere(stale.at, stale, run);
      if (response) return ok({url, response, permanent, notModified: stale});
      stale = undefined;
    }
    const hop = await run.takeHop(current, run.budget, stale?.conditions);
    if (!hop.ok) return hop;
    if (hop.value.kind === 'response') {
      const {response} = hop.value;
      const confirms = response.status === NOT_MODIFIED && stale !== undefined;
      if (confirms && !stale?.matches304(response.headers)) {
        // The 304 is about another document than ours, so ours is not asked about again.
        response.discard();
        stale = undefined;
        continue;
      }
      return ok({url, response, permanent, ...(confirms && stale && {notModified: stale})});
    }
    permanent &&= hop.value.permanent;
    const next = run.goOn(url, hop.value.target);
    if (!next.ok) return next;
    current = next.value;
    stale = await findStale?.(current.url);
  }
}

/** The 304 of another address of the same origin; whatever else it answers, the page itself is asked for. */
async function confirmThere(
  address: CheckedUrl,
  {conditions, matches304}: StaleDocument,
  run: FetchRun,
): Promise<HttpResponse | undefined> {
  const hop = await run.takeHop(address, run.budget, conditions);
  if (!hop.ok || hop.value.kind === 'redirect') return undefined;
  const {response} = hop.value;
  if (response.status === NOT_MODIFIED && matches304(response.headers)) return response;
  response.discard();
  return undefined;
}

/**
 * SRD 3.4.1: every hop, then status, content type and body, under one budget. What `findStale` knows of an address is not
 * downloaded again where its server says that it still holds.
 */
export async function fetchDocument<Stale extends StaleDocument>(
  start: CheckedUrl,
  run: FetchRun,
  findStale: FindStale<Stale> | undefined,
): Promise<Result<RawDocument | NotModified<Stale>>> {
  const final = await followRedirects(start, run, findStale);
  if (!final.ok) return final;
  const {response, notModified} = final.value;
  if (!notModified) return readDocument(final.value, run);
  response.discard();
  return ok({notModified});
}

/** Ruling C1: status before content type, content type before size. */
export async function readDocument(
  {url, response, permanent}: FinalResponse,
  {context: {options, clock}, accepts: own}: FetchRun,
  accepts = own,
): Promise<Result<RawDocument>> {
  const {status, headers} = response;
  const documentOf = (bytes: Uint8Array, media: Media, headerCharset?: string): Result<RawDocument> =>
    ok({url, headers, status, bytes, media, headerCharset, fetchedAt: clock.now(), permanent});
  const carries = checkStatus(response);
  if (!carries.ok || carries.value === 'empty') {
    response.discard();
    return carries.ok ? documentOf(new Uint8Array(), 'text') : carries;
  }
  const declared = decideMedia(headers.get('content-type'), {accepts});
  if (!declared.ok) {
    response.discard();
    return declared;
  }
  const body = await response.read(options.max_download_bytes);
  if (!body.ok) return body;
  const {media: known, declared: vague} = declared.value;
  const media = known === undefined ? sniffMedia(body.value, {accepts, declared: vague}) : ok(known);
  return media.ok ? documentOf(body.value, media.value, declared.value.charset) : media;
}

/**
 * Ruling R3: the version of a page in Markdown that the page itself names: one more step of the navigation, at the
 * page's own origin. Whoever calls it reads the page where this fails.
 */
export async function fetchAlternate(
  reference: string,
  page: WebUrl,
  run: FetchRun,
): Promise<Result<RawDocument>> {
  const notThere = fail('network', `"${page.host}" names a version in Markdown that is not one of its own.`, {
    error: 'no_alternate',
  });
  const url = resolveUrl(reference, page);
  if (!url.ok) return url;
  if (url.value.origin !== page.origin || url.value.canonical === page.canonical) return notThere;
  const start = run.goOn(page, () => url);
  if (!start.ok) return start;
  const final = await followRedirects(start.value, run);
  if (!final.ok) return final;
  const raw = await readDocument(final.value, run, MARKDOWN_ONLY);
  if (!raw.ok) return raw;
  if (raw.value.media === 'html' || raw.value.url.origin !== page.origin) return notThere;
  // Many servers know no other type for a file than plain text.
  return ok({...raw.value, media: 'markdown'});
}

export interface FetchedFile {
  /** Where its redirects led to. */
  readonly url: string;
  /** Decoded as its `Content-Encoding` says. */
  readonly bytes: Uint8Array;
}

/** A file as it is, such as a sitemap: every hop is checked and asked for as that of a page is. */
export async function fetchFile(
  requested: string,
  {maxBytes, signal}: {readonly maxBytes: number; readonly signal: AbortSignal},
  context: HopContext,
): Promise<Result<FetchedFile>> {
  const url = parseUrl(requested);
  if (!url.ok) return url;
  const start = checkUrl(url.value, context.policy, true);
  if (!start.ok) return start;
  const run = new FetchRun(context, {method: 'http', reach: new HostReach(url.value, undefined), signal});
  try {
    const final = await followRedirects(start.value, run);
    if (!final.ok) return final;
    const {response} = final.value;
    const status = checkStatus(response);
    if (!status.ok || status.value === 'empty') {
      response.discard();
      return status.ok ? ok({url: final.value.url.canonical, bytes: new Uint8Array()}) : status;
    }
    const body = await response.read(maxBytes);
    return body.ok ? ok({url: final.value.url.canonical, bytes: body.value}) : body;
  } finally {
    await run.close();
  }
}

const LICENSE_ADVICE = 'It wants a licence for this use. Choose another source, or configure one.';

/**
 * RSL: what a server says that does not answer without a licence. The codes of the SRD are a closed list, so for
 * `web_fetch` it is a reason of `http_4xx`.
 */
function licenseChallenge({status, headers}: HttpResponse): Readonly<Record<string, string>> | undefined {
  const challenge = headers
    .get('www-authenticate')
    ?.find(value => /(?:^|,)\s*License(?=[\s,]|$)/i.test(value));
  if (status !== 402 && (status !== 401 || challenge === undefined)) return undefined;
  return {
    reason: LICENSE_REQUIRED,
    ...(challenge !== undefined && {challenge: printableStart(challenge)}),
  };
}

/** What a stranger wrote must not act on a terminal or a log. */
function printableStart(text: string): string {
  return text.slice(0, 300).replace(/[^\x20-\x7e]/g, '?');
}

/**
 * FR-WF-18 registry, ruling C1: whether the status carries a document. Redirects were followed
 * before this; the body of an error is not read.
 */
function checkStatus(response: HttpResponse): Result<'document' | 'empty'> {
  const {status} = response;
  if (status === 204 || status === 205) return ok('empty');
  if (status >= 200 && status < 300 && status !== 206) return ok('document');

  const statusText = response.statusText.slice(0, 200);
  // A date or a number (RFC 9110 §10.2.3); what else stands there must not act on a terminal or a log.
  const retryAfter = response.headers
    .get('retry-after')?.[0]
    ?.slice(0, 100)
    .replace(/[^\x20-\x7e]/g, '?');
  const details = {status, status_text: statusText, retry_after: retryAfter};
  const said = `The server answered ${status}${statusText ? ` ${statusText}` : ''}.`;
  if (status >= 400 && status < 500) {
    // FR-WF-ERR-HTTP-01
    const retryable = status === 408 || status === 429;
    const license = licenseChallenge(response);
    if (license) return fail('http_4xx', `${said} ${LICENSE_ADVICE}`, {...details, ...license});
    const advice = retryable ? 'Wait, then retry.' : 'Check the address.';
    return fail('http_4xx', `${said} ${advice}`, details, {retryable});
  }
  if (status >= 500 && status < 600) return fail('http_5xx', `${said} Retry later.`, details);
  return fail('network', `${said} That status carries no document; retry, or fetch another address.`, {
    error: 'unexpected_status',
    status,
  });
}
