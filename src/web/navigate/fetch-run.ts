// One fetch on its way: each hop is checked, resolved, allowed by robots.txt and requested in its turn at the host.

import type {Clock} from '../../core/clock.ts';
import {Deadline} from '../../core/deadline.ts';
import type {Log} from '../../core/log.ts';
import type {HostGate} from '../../core/replicas.ts';
import {fail, ok, type Result} from '../../core/result.ts';
import {retryAfterMs} from '../../core/text/parse.ts';
import {checkUrl} from '../guard/check-url.ts';
import {type Guard, HostPins} from '../guard/guard.ts';
import type {GuardPolicy} from '../guard/policy.ts';
import type {WebFetchOptions} from '../options.ts';
import {
  type CheckedUrl,
  type Credential,
  type ExtraMedia,
  type HttpRequest,
  type HttpResponse,
  type HttpTransport,
  type MayReach,
  type PinnedTarget,
  REDIRECT_STATUSES,
  type RenderingMethod,
  type RequestSigner,
  type UsagePreference,
  type WebUrl,
} from '../page.ts';
import type {RobotsAccess, RobotsLeave} from '../robots/access.ts';
import {parseUrl, resolveUrl} from '../url.ts';

const REFUSED_STATUSES: ReadonlySet<number> = new Set([401, 403, 429]);

/** A request lasts no longer than its budget, and this. */
const LEASE_MARGIN_MS = 5000;
/** Where a server that refuses does not say for how long. */
const PAUSE_MS = 5000;
const BUSY_STATUSES: ReadonlySet<number> = new Set([429, 503]);
const NO_MEDIA: ReadonlySet<ExtraMedia> = new Set();

/** What lives as long as the toolbox, as far as a hop needs it. */
export interface HopContext {
  readonly options: WebFetchOptions;
  readonly policy: GuardPolicy;
  readonly guard: Guard;
  readonly robots: RobotsAccess<FetchRun>;
  readonly transport: HttpTransport;
  /** FR-WF-10b */
  readonly headers: Readonly<Record<string, string>>;
  readonly credentials: readonly Credential[];
  /** Who asks, for origins that want to know. */
  readonly signer: RequestSigner | undefined;
  /** Where several replicas ask the same hosts. Default: nobody is waited for. */
  readonly hosts?: HostGate | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** What an address of the main document answers with. */
type Hop =
  | {readonly kind: 'response'; readonly response: HttpResponse}
  | {
      readonly kind: 'redirect';
      /** A 301 or 308 (ruling F2). */
      readonly permanent: boolean;
      /** Where it leads. Asked for when the redirect has been counted: the limit comes first (ruling A1). */
      readonly target: () => Result<WebUrl>;
    };

/** What lives as long as one call, in HTTP mode and in the browser: its budget, and what its hops have in common. */
export class FetchRun {
  /** FR-WF-09a: some hop was allowed only because `fail_open` is set. */
  robotsFailOpen = false;
  /** What the robots.txt of the last hop says of the use of its pages. */
  robotsUsage: readonly UsagePreference[] = [];
  /** Ruling S1: some hop was allowed by this replica's part of the limits alone. */
  hubUnavailable = false;
  readonly context: HopContext;
  /** How the call begins, for the lines that are logged. */
  readonly method: RenderingMethod;
  /** What is read beside HTML and plain text (rulings C5, R3). */
  readonly accepts: ReadonlySet<ExtraMedia>;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** FR-WF-TIMEOUT-02 */
  readonly budget: Deadline;
  readonly #reach: HostReach;
  /** Ruling A5: one resolution of a host for the whole call. */
  readonly #pins = new HostPins();
  /**
   * Whether what the operator opened (`allow_private`) holds for this call. It does as long as every address of its
   * main document was opened: a page of the public web leads nobody to a private one.
   */
  #isPrivateAllowed = true;
  #start: WebUrl | undefined;
  #leftStart = false;
  #leftHost = false;
  #redirects = 0;
  /** One allowance for all hosts of a call, so that it has an upper bound. robots.txt has another (docs/decisions/0004). */
  #hostWaitMs: number;
  #robotsMs: number;
  readonly #ends: (() => Promise<void>)[] = [];

  constructor(
    context: HopContext,
    call: {
      readonly method: RenderingMethod;
      readonly reach: HostReach;
      readonly signal: AbortSignal;
      readonly accepts?: ReadonlySet<ExtraMedia>;
      readonly headers?: Readonly<Record<string, string>>;
    },
  ) {
    this.context = context;
    this.method = call.method;
    this.accepts = call.accepts ?? NO_MEDIA;
    this.headers = call.headers ?? context.headers;
    this.signal = call.signal;
    this.#reach = call.reach;
    const ms = context.options.timeout_seconds * 1000;
    this.budget = new Deadline(ms, context.clock, call.signal);
    this.#hostWaitMs = ms;
    this.#robotsMs = ms;
  }

  /** `end` is awaited when the call ends. */
  endWith(end: () => Promise<void>): void {
    this.#ends.push(end);
  }

  async close(): Promise<void> {
    this.budget.close();
    await Promise.all(this.#ends.map(end => end()));
  }

  /**
   * What goes along with a request for the main document: the credential of the origin where the call began, and
   * nothing any more once another origin had a say.
   */
  credentialFor({origin}: WebUrl): Credential | undefined {
    if (this.#leftStart || (this.#start !== undefined && origin !== this.#start.origin)) return undefined;
    return this.context.credentials.find(credential => credential.origin === origin);
  }

  /** One hop of the main document (FR-WF-07e): rules on hosts and guard, robots.txt, request, redirect. */
  async takeHop(
    checked: CheckedUrl,
    budget = this.budget,
    conditions: Readonly<Record<string, string>> = {},
  ): Promise<Result<Hop>> {
    const target = await this.mayTake(checked, budget);
    if (!target.ok) return target;

    const {clock} = this.context;
    const began = clock.monotonic();
    const response = await this.#inTurn(checked.url, this.#hostWaitMs, budget, isHubAway => {
      this.hubUnavailable ||= isHubAway;
      this.#hostWaitMs = Math.max(0, this.#hostWaitMs - (clock.monotonic() - began));
      return this.#request(target.value, conditions, budget);
    });
    return response.ok ? hopOf(response.value, checked.url) : response;
  }

  /** What comes before the request: rules on hosts and guard, then robots.txt. */
  async mayTake(checked: CheckedUrl, budget = this.budget): Promise<Result<PinnedTarget>> {
    this.#isPrivateAllowed &&= checked.opened;
    this.#start ??= checked.url;
    this.#leftStart ||= checked.url.origin !== this.#start.origin;
    this.#leftHost ||= this.#leftStart && !isUpgrade(this.#start, checked.url);
    const target = await this.#authorize(checked, budget);
    if (!target.ok) return target;
    budget.enter('robots');
    const robots = await budget.pausedFor(() => this.#checkRobots(checked, budget.signal));
    if (!robots.ok) return robots;
    this.robotsFailOpen ||= robots.value.failOpen;
    this.robotsUsage = robots.value.usage ?? [];
    return target;
  }

  /** Leave to connect for any hop: the rules on hosts (review R11), then resolution and guard (FR-WF-07e). */
  async #authorize(checked: CheckedUrl, budget: Deadline): Promise<Result<PinnedTarget>> {
    const permitted = this.#reach.permit(checked.url);
    return permitted.ok ? this.context.guard.authorize(checked, this.#pins, budget) : permitted;
  }

  /**
   * Ruling B2: robots.txt has `timeout_seconds` of its own. One allowance serves all origins of a
   * redirect chain, so that a call has an upper bound (docs/decisions/0004).
   */
  async #checkRobots(checked: CheckedUrl, caller: AbortSignal): Promise<Result<RobotsLeave>> {
    const {robots, clock, options} = this.context;
    const allowance = new Deadline(this.#robotsMs, clock, caller);
    try {
      const decision = await robots.check(checked, this, allowance.signal);
      if (decision.ok || decision.error.code !== 'cancelled' || caller.aborted) return decision;
      if (options.robots.fail_open) return ok({failOpen: true});
      const {origin} = checked.url;
      return fail(
        'robots_unavailable',
        `The robots.txt of ${origin} was not read within ${options.timeout_seconds} s. Retry later.`,
        {origin, error: 'timeout'},
      );
    } finally {
      this.#robotsMs = allowance.remainingMs();
      allowance.close();
    }
  }

  /** Sends a request when the host may be asked, and says when its answer was read. */
  async #inTurn(
    {host}: WebUrl,
    waitMs: number,
    budget: Deadline,
    request: (isHubAway: boolean) => Promise<Result<HttpResponse>>,
  ): Promise<Result<HttpResponse>> {
    const {hosts, clock} = this.context;
    if (hosts === undefined) return request(false);
    const {signal} = budget;
    const leaseMs = budget.remainingMs() + LEASE_MARGIN_MS;
    const entered = await budget.pausedFor(() => hosts.enter(host, {signal, waitMs, leaseMs}));
    if (!entered.ok) return entered;
    const lease = entered.value;
    let opened: Result<HttpResponse> | undefined;
    try {
      opened = await request(lease.unavailable);
    } finally {
      if (!opened?.ok) lease.leave();
    }
    if (!opened.ok) return opened;
    // The host is left when its answer is read, or dropped.
    const {value: response} = opened;
    const asked = response.headers.get('retry-after')?.[0]?.trim() ?? '';
    const isBusy = BUSY_STATUSES.has(response.status);
    const leave = (): void => lease.leave(isBusy ? (retryAfterMs(asked, clock.now()) ?? PAUSE_MS) : 0);
    return ok({
      ...response,
      read: maxBytes => response.read(maxBytes).finally(leave),
      readPrefix: maxBytes => response.readPrefix(maxBytes).finally(leave),
      discard: () => {
        leave();
        response.discard();
      },
    });
  }

  /** With the credential. One that is refused for want of a signature is repeated with one, once. */
  async #request(
    target: PinnedTarget,
    conditions: Readonly<Record<string, string>>,
    budget: Deadline,
  ): Promise<Result<HttpResponse>> {
    const {transport, signer} = this.context;
    const credential = this.credentialFor(target.url);
    const own = credential && {[credential.header]: credential.value()};
    const headers = {...this.headers, ...conditions, ...own};
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
    const max = this.context.options.max_redirects;
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
    return checkUrl(url, this.context.policy, this.#isPrivateAllowed);
  }

  /** FR-WF-11b: one hop of what a page loads beside its document. robots.txt is not asked (FR-WF-ROBOTS-SCOPE-01). */
  async openResource(
    address: string,
    {method, headers}: HttpRequest,
    budget: Deadline,
  ): Promise<Result<HttpResponse>> {
    const url = parseUrl(address);
    const target = url.ok ? await this.#open(url.value, budget) : url;
    if (!target.ok) return target;
    // The page says what it accepts; who asks, and which codings are understood, is ours to say.
    const {Accept: _, ...own} = this.headers;
    return this.context.transport.request(target.value, {method, headers: {...headers, ...own}}, budget);
  }

  /** One hop to a robots.txt. All calls share it, so the headers of this call stay out. */
  async openRobots(url: WebUrl, budget: Deadline): Promise<Result<HttpResponse>> {
    const {transport, headers} = this.context;
    const target = await this.#open(url, budget);
    if (!target.ok) return target;
    // That the host is busy is said before the time of robots.txt is over.
    const waitMs = 0.9 * budget.remainingMs();
    return this.#inTurn(url, waitMs, budget, () =>
      transport.request(target.value, {method: 'GET', headers}, budget),
    );
  }

  /** One request to a search engine, which the operator chose: its robots.txt is not asked. */
  async openEngine(url: WebUrl, headers: HttpRequest['headers']): Promise<Result<HttpResponse>> {
    const {budget} = this;
    const target = await this.#open(url, budget);
    if (!target.ok) return target;
    return this.#inTurn(url, budget.remainingMs(), budget, () =>
      this.context.transport.request(target.value, {method: 'GET', headers}, budget),
    );
  }

  async #open(url: WebUrl, budget: Deadline): Promise<Result<PinnedTarget>> {
    const checked = this.check(url);
    return checked.ok ? this.#authorize(checked.value, budget) : checked;
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

/**
 * Review R11: the rules on hosts at every hop of one fetch: redirects, navigations, what a page loads, and the
 * redirects of robots.txt. The host that was asked for was decided about with the call.
 */
export class HostReach {
  readonly #own: string;
  readonly #mayReach: MayReach | undefined;
  readonly #decisions = new Map<string, boolean>();

  constructor(asked: WebUrl, mayReach: MayReach | undefined) {
    this.#own = asked.name;
    this.#mayReach = mayReach;
  }

  /** Errors: `approval_denied`. */
  permit({name, host}: WebUrl): Result<undefined> {
    if (name === this.#own) return ok();
    const decision = this.#mayReach?.(name) ?? {allowed: true};
    this.#decisions.set(name, decision.allowed);
    if (decision.allowed) return ok();
    const {reason} = decision;
    return fail('approval_denied', `The fetch was led to "${host}", and may not go there. ${reason}`, {
      host: name,
      reason,
    });
  }

  /** Whether a fetch under these other rules would have gone the same way. */
  agreesWith(mayReach: MayReach | undefined): boolean {
    return [...this.#decisions].every(([name, allowed]) => (mayReach?.(name).allowed ?? true) === allowed);
  }
}
