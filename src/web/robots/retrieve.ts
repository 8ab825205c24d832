// Reads the robots.txt of an origin, over redirects.
// Says with `robots_unavailable` why its rules are unknown.

import type {Deadline} from '../../core/deadline.ts';
import type {Log} from '../../core/log.ts';
import {type Err, type Failure, fail, ok, type Result} from '../../core/result.ts';
import type {WebFetchOptions} from '../options.ts';
import {type HttpResponse, REDIRECT_STATUSES, type WebUrl} from '../page.ts';
import {parseUrl, resolveUrl} from '../url.ts';
import {parseRobotsBytes, Robots, type RobotsText} from './robots.ts';

/** How one robots.txt is asked for. */
interface Retrieval {
  readonly options: WebFetchOptions;
  readonly log: Log;
  readonly open: (url: WebUrl) => Promise<Result<HttpResponse>>;
  /** Gets the text that the rules are made of: nothing where the site has none. */
  readonly onText?: (text: RobotsText) => void;
}

/**
 * FR-WF-ROBOTS-FETCH-01: the robots.txt of the origin of `asked`, over redirects. Fails with
 * `robots_unavailable`, as the origin itself fails (`dns_failed`, `network` with `tls_validation_failed`, a
 * refusal of the guard), or where its host could not have a turn (`host_busy`, `hub_unavailable`).
 */
export async function retrieveRobots(
  asked: WebUrl,
  deps: Retrieval,
  budget: Deadline,
): Promise<Result<Robots>> {
  const {origin} = asked;
  const {max_redirects, robots} = deps.options;
  let current = robotsUrl(asked);
  for (let hops = 0; ; hops += 1) {
    const opened = await open(current, deps, budget);
    if (!opened.ok) return explain(opened, current, asked);
    const response = opened.value;
    const {status} = response;
    if (!REDIRECT_STATUSES.has(status)) return readRules(response, asked, deps, budget);

    response.discard();
    const location = response.headers.get('location')?.[0];
    if (location === undefined) return robotsUnavailable(origin, 'missing_location', {status});
    // Ruling A1: the limit is checked before the target is looked at.
    if (hops >= max_redirects) return robotsUnavailable(origin, 'redirect_limit');
    const target = resolveUrl(location, current);
    if (!target.ok) return robotsUnavailable(origin, target.error.code);
    if (!(await mayRedirectTo(target.value, asked, robots.cross_origin_redirects))) {
      const redirectTarget = target.value.origin;
      return robotsUnavailable(origin, 'robots_cross_origin_redirect', {redirectTarget});
    }
    current = target.value;
  }
}

function robotsUrl({origin}: WebUrl): WebUrl {
  const url = parseUrl(`${origin}/robots.txt`);
  // An origin was printed by the parser that reads it here.
  if (!url.ok) throw new TypeError(`Expected an origin, got "${origin}"`);
  return url.value;
}

async function open(url: WebUrl, deps: Retrieval, budget: Deadline): Promise<Result<HttpResponse>> {
  const opening = deps.open(url);
  const opened = await budget.race(opening);
  if (opened.ok) return opened.value;
  // Too late, but a response that still comes must not keep its connection.
  opening.then(
    late => late.ok && late.value.discard(),
    () => {},
  );
  return opened;
}

/** Ruling B3: what the status says, and if it says so, the body. */
async function readRules(
  response: HttpResponse,
  asked: WebUrl,
  {options, log, onText}: Retrieval,
  budget: Deadline,
): Promise<Result<Robots>> {
  const {status} = response;
  if (status < 200 || status > 299) {
    response.discard();
    // FR-WF-09, FR-WF-09c: every 4xx allows all.
    if (status >= 400 && status <= 499) {
      onText?.({bytes: new Uint8Array(), cut: false});
      return ok(new Robots([]));
    }
    return robotsUnavailable(asked.origin, status >= 500 ? 'http_5xx' : 'unexpected_status', {status});
  }
  const limit = options.robots.max_robots_bytes;
  const read = await budget.race(response.readPrefix(limit));
  const body = read.ok ? read.value : read;
  if (!body.ok) return robotsUnavailable(asked.origin, reasonOf(body.error));
  const {bytes, cut} = body.value;
  if (cut) {
    log({
      level: 'warn',
      event: 'robots_truncated',
      message: `robots.txt truncated at ${limit} bytes`,
      requested_host: asked.host,
    });
  }
  onText?.({bytes, cut});
  return ok(parseRobotsBytes(bytes, cut));
}

/**
 * Ruling B3: that the asked name does not resolve, does not prove who it is, or may not be reached, is no matter
 * of robots.txt, whatever `fail_open` says.
 */
function explain(failed: Err<Failure>, hop: WebUrl, asked: WebUrl): Err<Failure> {
  const {code} = failed.error;
  // Ruling S1: nobody was asked, so nothing is known of robots.txt, whatever `fail_open` says.
  if (code === 'host_busy' || code === 'hub_unavailable') return failed;
  if (code === 'dns_failed' && hop.name === asked.name) return failed;
  if (reasonOf(failed.error) === 'tls_validation_failed' && hop.origin === asked.origin) return failed;
  if ((code === 'ssrf_blocked' || code === 'port_blocked') && hop.origin === asked.origin) return failed;
  return robotsUnavailable(asked.origin, reasonOf(failed.error));
}

function reasonOf({code, details}: Failure): string {
  const {error} = details;
  return code === 'network' && typeof error === 'string' ? error : code;
}

interface Circumstances {
  readonly status?: number;
  /** Ruling B1: the origin that a redirect led to, for the caller to try. */
  readonly redirectTarget?: string;
}

/** FR-WF-09a. `reason` is one word, for `details.error`. */
function robotsUnavailable(
  origin: string,
  reason: string,
  {status, redirectTarget}: Circumstances = {},
): Err<Failure> {
  const details = {origin, error: reason, redirect_target: redirectTarget, status};
  if (redirectTarget !== undefined) {
    return fail(
      'robots_unavailable',
      `The robots.txt of ${origin} redirects to another origin, ${redirectTarget}, so its rules are unknown. Fetch the page from ${redirectTarget} if it is there too.`,
      details,
    );
  }
  const cause = status === undefined ? reason : `${reason}, status ${status}`;
  return fail(
    'robots_unavailable',
    `The robots.txt of ${origin} could not be read (${cause}), so nothing of it may be fetched. Retry later, or choose another source.`,
    details,
  );
}

type Policy = WebFetchOptions['robots']['cross_origin_redirects'];

/** FR-WF-ROBOTS-REDIR-02, ruling B1: whether the rules of `asked` may be read from `target`. */
async function mayRedirectTo(target: WebUrl, asked: WebUrl, policy: Policy): Promise<boolean> {
  if (target.origin === asked.origin || isUpgrade(asked, target)) return true;
  if (policy === 'deny') return false;
  return policy === 'follow' || isSameSite(asked, target);
}

/** FR-WF-ROBOTS-FETCH-01: from http on port 80 to https on port 443 of one host. */
function isUpgrade(from: WebUrl, to: WebUrl): boolean {
  return (
    from.host === to.host &&
    from.scheme === 'http' &&
    from.port === 80 &&
    to.scheme === 'https' &&
    to.port === 443
  );
}

interface Named {
  /** Without a port and a final dot. */
  readonly name: string;
}

/** Whether two hosts are of one site: the domain that somebody registered, or one name. */
export async function isSameSite(one: Named, other: Named): Promise<boolean> {
  if (one.name === other.name) return true;
  // The public suffix list is large, and few need it.
  const {getDomain} = await import('tldts');
  // With private suffixes, two customers of one hoster (`a.github.io`, `b.github.io`) are two sites.
  const [site, otherSite] = [one, other].map(({name}) => getDomain(name, {allowPrivateDomains: true}));
  return site !== null && site === otherSite;
}
