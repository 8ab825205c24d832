import type {Budget} from '../core/budget.ts';
import {fail} from '../core/failure.ts';
import {ok, type Result} from '../core/result.ts';
import {RobotsTime} from './check-robots.ts';
import type {FetchParts} from './fetch-parts.ts';
import {checkUrl} from './guard/check-url.ts';
import {HostPins} from './guard/host-pins.ts';
import {REDIRECT_STATUSES} from './judge-status.ts';
import type {CheckedUrl, HttpResponse, WebUrl} from './page.ts';
import {resolveUrl} from './url/resolve-url.ts';

export interface Landing {
  readonly url: WebUrl;
  readonly response: HttpResponse;
  /** FR-WF-09a: some hop was allowed only because `fail_open` is set. */
  readonly robotsFailOpen: boolean;
  /** Every hop was a 301 or 308 (ruling F2). */
  readonly permanent: boolean;
}

/** FR-WF-07e: guard, robots, transport for the first address and again for each one it leads to. */
export async function followRedirects(
  start: CheckedUrl,
  parts: FetchParts,
  budget: Budget,
): Promise<Result<Landing>> {
  const {options} = parts;
  // Ruling A5: one resolution of a host for the whole call.
  const pins = new HostPins();
  const robotsTime = new RobotsTime(parts, budget.signal);
  let current = start;
  let robotsFailOpen = false;
  let permanent = true;
  for (let hops = 0; ; hops += 1) {
    const target = await parts.guard.admit(current, pins, budget);
    if (!target.ok) return target;

    budget.enter('robots');
    const robots = await budget.pausedFor(() => robotsTime.check(current, pins));
    if (!robots.ok) return robots;
    robotsFailOpen ||= robots.value.failOpen;

    const response = await parts.transport.request(
      target.value,
      {method: 'GET', headers: parts.headers},
      budget,
    );
    if (!response.ok) return response;
    const {status, headers} = response.value;
    const {url} = current;
    if (!REDIRECT_STATUSES.has(status)) {
      return ok({url, response: response.value, robotsFailOpen, permanent});
    }

    response.value.discard();
    permanent &&= status === 301 || status === 308;
    const location = headers.get('location')?.[0];
    if (location === undefined) {
      return fail(
        'network',
        `"${url.host}" answered ${status} without a Location. Fetch the page's real address.`,
        {
          error: 'missing_location',
          status,
        },
      );
    }
    // Ruling A1: the limit is judged before the target is looked at.
    if (hops >= options.max_redirects) {
      return fail(
        'redirect_limit',
        `More than ${options.max_redirects} redirects, the last one from "${url.host}". Fetch a later address of the chain, or raise tools.webfetch.max_redirects.`,
        {count: hops + 1, max: options.max_redirects},
      );
    }
    const next = resolveUrl(location, url);
    if (!next.ok) return next;
    const checked = checkUrl(next.value, parts.policy);
    if (!checked.ok) return checked;
    current = checked.value;
  }
}
