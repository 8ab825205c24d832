import type {Budget} from '../../core/budget.ts';
import {fail} from '../../core/failure/fail.ts';
import {ok, type Result} from '../../core/result.ts';
import {checkUrl} from '../guard/check-url.ts';
import type {Guard} from '../guard/create-guard.ts';
import type {GuardPolicy} from '../guard/guard-policy.ts';
import {HostPins} from '../guard/host-pins.ts';
import type {WebFetchOptions} from '../options.ts';
import {
  type CheckedUrl,
  type Credential,
  type HttpRequest,
  type HttpResponse,
  type HttpTransport,
  type PinnedTarget,
  REDIRECT_STATUSES,
  type RenderingMethod,
  type RequestSigner,
  type UsagePreference,
  type WebUrl,
} from '../page.ts';
import {parseUrl} from '../url/parse-url.ts';
import {resolveUrl} from '../url/resolve-url.ts';
import {type AskHostDeps, askHost} from './ask-host.ts';
import {authorizeHop} from './authorize-hop.ts';
import type {HostCall} from './host-call.ts';
import type {HostReach} from './host-reach.ts';
import {RobotsTime, type RobotsTimeDeps} from './robots-time.ts';

const REFUSED_STATUSES: ReadonlySet<number> = new Set([401, 403, 429]);

export interface NavigationDeps extends RobotsTimeDeps, AskHostDeps {
  readonly options: Pick<WebFetchOptions, 'timeout_seconds' | 'robots' | 'max_redirects'>;
  readonly policy: GuardPolicy;
  readonly guard: Guard;
  readonly transport: HttpTransport;
  /** FR-WF-10b */
  readonly headers: Readonly<Record<string, string>>;
  readonly credentials: readonly Credential[];
  /** Who asks, for origins that want to know. */
  readonly signer: RequestSigner | undefined;
}

/** What an address of the main document answers with. */
export type Hop =
  | {readonly kind: 'response'; readonly response: HttpResponse}
  | {
      readonly kind: 'redirect';
      /** A 301 or 308 (ruling F2). */
      readonly permanent: boolean;
      /** Where it leads. Asked for when the redirect has been counted: the limit comes first (ruling A1). */
      readonly target: () => Result<WebUrl>;
    };

/** The way of one call to its document, in HTTP mode and in the browser: what its hops have in common. */
export class Navigation {
  /** FR-WF-09a: some hop was allowed only because `fail_open` is set. */
  robotsFailOpen = false;
  /** What the robots.txt of the last hop says of the use of its pages. */
  robotsUsage: readonly UsagePreference[] = [];
  /** Ruling S1: some hop was allowed by this replica's part of the limits alone. */
  hubUnavailable = false;
  #start: WebUrl | undefined;
  #leftStart = false;
  #leftHost = false;
  readonly #deps: NavigationDeps;
  readonly #hosts: HostCall;
  readonly #robotsTime: RobotsTime;
  #redirects = 0;
  /** One allowance for all hosts of a call, as for robots.txt, so that it has an upper bound. */
  #hostWaitMs: number;

  constructor(deps: NavigationDeps, method: RenderingMethod, reach: HostReach) {
    this.#deps = deps;
    this.#hosts = {pins: new HostPins(), reach, openings: {hold: true}, method};
    this.#robotsTime = new RobotsTime(deps);
    this.#hostWaitMs = deps.options.timeout_seconds * 1000;
  }

  /**
   * What goes along with a request for the main document: the credential of the origin where the call began, and
   * nothing any more once another origin had a say.
   */
  credentialFor({origin}: WebUrl): Credential | undefined {
    if (this.#leftStart || (this.#start !== undefined && origin !== this.#start.origin)) return undefined;
    return this.#deps.credentials.find(credential => credential.origin === origin);
  }

  /** One hop of the main document (FR-WF-07e): rules on hosts and guard, robots.txt, request, redirect. */
  async takeHop(
    checked: CheckedUrl,
    budget: Budget,
    conditions: Readonly<Record<string, string>> = {},
  ): Promise<Result<Hop>> {
    const target = await this.mayTake(checked, budget);
    if (!target.ok) return target;

    const {clock} = this.#deps;
    const began = clock.monotonic();
    const asked = await askHost(checked.url.host, this.#deps, this.#hostWaitMs, budget, () => {
      this.#hostWaitMs = Math.max(0, this.#hostWaitMs - (clock.monotonic() - began));
      return this.#request(target.value, conditions, budget);
    });
    if (!asked.ok) return asked;
    this.hubUnavailable ||= asked.value.unavailable;
    return hopOf(asked.value.response, checked.url);
  }

  /** What comes before the request: rules on hosts and guard, then robots.txt. */
  async mayTake(checked: CheckedUrl, budget: Budget): Promise<Result<PinnedTarget>> {
    this.#hosts.openings.hold &&= checked.opened;
    this.#start ??= checked.url;
    this.#leftStart ||= checked.url.origin !== this.#start.origin;
    this.#leftHost ||= this.#leftStart && !isUpgrade(this.#start, checked.url);
    const target = await authorizeHop(checked, this.#hosts, this.#deps.guard, budget);
    if (!target.ok) return target;
    budget.enter('robots');
    const robots = await budget.pausedFor(() => this.#robotsTime.check(checked, this.#hosts, budget.signal));
    if (!robots.ok) return robots;
    this.robotsFailOpen ||= robots.value.failOpen;
    this.robotsUsage = robots.value.usage ?? [];
    return target;
  }

  /** With the credential. One that is refused for want of a signature is repeated with one, once. */
  async #request(
    target: PinnedTarget,
    conditions: Readonly<Record<string, string>>,
    budget: Budget,
  ): Promise<Result<HttpResponse>> {
    const {transport, signer} = this.#deps;
    const credential = this.credentialFor(target.url);
    const own = credential && {[credential.header]: credential.value()};
    const headers = {...this.#deps.headers, ...conditions, ...own};
    const opened = await transport.request(target, {method: 'GET', headers}, budget);
    if (!opened.ok || !signer || this.#leftHost || target.url.scheme !== 'https') return opened;
    const challenge = signatureChallenge(opened.value);
    const signature = challenge === undefined ? undefined : signer.answer(challenge, target.url);
    if (!signature) return opened;
    opened.value.discard();
    return transport.request(target, {method: 'GET', headers: {...headers, ...signature}}, budget);
  }

  /**
   * FR-WF-07f, FR-WF-11c: goes on to another address, by a redirect or by a script: one more step, then the
   * checks that its URL alone allows. `from` is named where there were too many.
   */
  goOn(from: WebUrl, target: () => Result<WebUrl>): Result<CheckedUrl> {
    const max = this.#deps.options.max_redirects;
    this.#redirects += 1;
    if (this.#redirects > max) {
      return fail(
        'redirect_limit',
        `More than ${max} redirects, the last one from "${from.host}". Fetch a later address of the chain, or raise tools.webfetch.max_redirects.`,
        {count: this.#redirects, max},
      );
    }
    const url = target();
    return url.ok ? this.check(url.value) : url;
  }

  /** What the URL of a further hop alone allows. */
  check(url: WebUrl): Result<CheckedUrl> {
    return checkUrl(url, this.#deps.policy, this.#hosts.openings.hold);
  }

  /** FR-WF-11b: one hop of what a page loads beside its document. robots.txt is not asked (FR-WF-ROBOTS-SCOPE-01). */
  async openResource(
    address: string,
    {method, headers}: HttpRequest,
    budget: Budget,
  ): Promise<Result<HttpResponse>> {
    const {guard, transport} = this.#deps;
    const url = parseUrl(address);
    if (!url.ok) return url;
    const checked = this.check(url.value);
    if (!checked.ok) return checked;
    const target = await authorizeHop(checked.value, this.#hosts, guard, budget);
    if (!target.ok) return target;
    // The page says what it accepts; who asks, and which codings are understood, is ours to say.
    const {Accept: _, ...own} = this.#deps.headers;
    return transport.request(target.value, {method, headers: {...headers, ...own}}, budget);
  }
}

/** From http to https of the same host. */
function isUpgrade(from: WebUrl, to: WebUrl): boolean {
  return from.name === to.name && from.port === 80 && to.port === 443 && to.scheme === 'https';
}

/** FR-WF-07a, FR-WF-07b: a redirect has no body for us, and a `Location`. */
function hopOf(response: HttpResponse, from: WebUrl): Result<Hop> {
  const {status, headers} = response;
  if (!REDIRECT_STATUSES.has(status)) return ok({kind: 'response', response});
  response.discard();
  const location = headers.get('location')?.[0];
  if (location === undefined) {
    return fail(
      'network',
      `"${from.host}" answered ${status} without a Location. Fetch the page's real address.`,
      {error: 'missing_location', status},
    );
  }
  const permanent = status === 301 || status === 308;
  return ok({kind: 'redirect', permanent, target: () => resolveUrl(location, from)});
}

/** RFC 9421 §5.1: which signatures a server asks for that does not answer without one. */
function signatureChallenge({status, headers}: HttpResponse): string | undefined {
  return REFUSED_STATUSES.has(status) ? headers.get('accept-signature')?.join(', ') : undefined;
}
