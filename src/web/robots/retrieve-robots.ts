import type {Budget} from '../../core/budget.ts';
import type {Failure} from '../../core/failure/failure.ts';
import type {Log} from '../../core/log.ts';
import {type Err, ok, type Result} from '../../core/result.ts';
import type {WebFetchOptions} from '../options.ts';
import {type HttpResponse, REDIRECT_STATUSES, type WebUrl} from '../page.ts';
import {mayRedirectTo} from './may-redirect-to.ts';
import {parseRobotsBytes} from './parse-robots.ts';
import {Robots} from './robots.ts';
import type {RobotsText} from './robots-text.ts';
import {robotsUnavailable} from './robots-unavailable.ts';

export interface RetrieveDeps {
  readonly settings: Pick<WebFetchOptions, 'max_redirects' | 'robots'>;
  readonly log: Log;
  /** Checks the address as a page's is checked (guard, ports) and sends the request. */
  readonly open: (url: WebUrl, budget: Budget) => Promise<Result<HttpResponse>>;
  readonly resolveLocation: (location: string, base: WebUrl) => Result<WebUrl>;
  readonly robotsUrl: (origin: WebUrl) => WebUrl;
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
  deps: RetrieveDeps,
  budget: Budget,
): Promise<Result<Robots>> {
  const {origin} = asked;
  const {max_redirects, robots} = deps.settings;
  let current = deps.robotsUrl(asked);
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
    const target = deps.resolveLocation(location, current);
    if (!target.ok) return robotsUnavailable(origin, target.error.code);
    if (!(await mayRedirectTo(target.value, asked, robots.cross_origin_redirects))) {
      const redirectTarget = target.value.origin;
      return robotsUnavailable(origin, 'robots_cross_origin_redirect', {redirectTarget});
    }
    current = target.value;
  }
}

async function open(url: WebUrl, deps: RetrieveDeps, budget: Budget): Promise<Result<HttpResponse>> {
  const opening = deps.open(url, budget);
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
  {settings, log, onText}: RetrieveDeps,
  budget: Budget,
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
  const limit = settings.robots.max_robots_bytes;
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
