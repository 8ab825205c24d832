import type {Budget} from '../../core/budget.ts';
import {fail} from '../../core/failure/fail.ts';
import {ok, type Result} from '../../core/result.ts';
import type {FetchDeps} from '../fetch-deps.ts';
import {HostPins} from '../guard/host-pins.ts';
import {type CheckedUrl, type HttpResponse, REDIRECT_STATUSES, type WebUrl} from '../page.ts';
import type {Rendering} from '../render/choose-rendering.ts';
import {RobotsTime} from './check-robots.ts';
import type {HostCall} from './host-call.ts';
import type {HostReach} from './host-reach.ts';

/** The way of one call to its document, in HTTP mode and in the browser: what its hops have in common. */
export class Navigation {
  readonly hosts: HostCall;
  /** FR-WF-09a: some hop was allowed only because `fail_open` is set. */
  robotsFailOpen = false;
  readonly #deps: FetchDeps;
  readonly #robotsTime: RobotsTime;
  #redirects = 0;

  constructor(deps: FetchDeps, {method}: Pick<Rendering, 'method'>, reach: HostReach) {
    this.#deps = deps;
    this.hosts = {pins: new HostPins(), reach, method};
    this.#robotsTime = new RobotsTime(deps);
  }

  /** FR-WF-07e: the rules on hosts, guard, robots and transport for one address. */
  async open(checked: CheckedUrl, budget: Budget): Promise<Result<HttpResponse>> {
    const permitted = this.hosts.reach.permit(checked.url);
    if (!permitted.ok) return permitted;
    const target = await this.#deps.guard.authorize(checked, this.hosts.pins, budget);
    if (!target.ok) return target;

    budget.enter('robots');
    const robots = await budget.pausedFor(() => this.#robotsTime.check(checked, this.hosts, budget.signal));
    if (!robots.ok) return robots;
    this.robotsFailOpen ||= robots.value.failOpen;

    return this.#deps.transport.request(target.value, {method: 'GET', headers: this.#deps.headers}, budget);
  }

  /** The `Location` of a redirect; `undefined` where the response is none. */
  location({status, headers}: HttpResponse, from: WebUrl): Result<string> | undefined {
    if (!REDIRECT_STATUSES.has(status)) return undefined;
    const location = headers.get('location')?.[0];
    if (location !== undefined) return ok(location);
    return fail(
      'network',
      `"${from.host}" answered ${status} without a Location. Fetch the page's real address.`,
      {error: 'missing_location', status},
    );
  }

  /** FR-WF-07f, FR-WF-11c: one more step, by a redirect or by a script. */
  count(from: WebUrl): Result<undefined> {
    const max = this.#deps.options.max_redirects;
    this.#redirects += 1;
    if (this.#redirects <= max) return ok();
    return fail(
      'redirect_limit',
      `More than ${max} redirects, the last one from "${from.host}". Fetch a later address of the chain, or raise tools.webfetch.max_redirects.`,
      {count: this.#redirects, max},
    );
  }
}
