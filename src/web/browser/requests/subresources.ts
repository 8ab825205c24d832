import {Budget} from '../../../core/budget.ts';
import type {Failure} from '../../../core/failure/failure.ts';
import {toUrl} from '../../../core/text/to-url.ts';
import {type HttpResponse, REDIRECT_STATUSES} from '../../page.ts';
import type {ErrorReason, PausedRequest} from '../cdp/cdp-protocol.ts';
import type {RenderPorts, RenderSettings} from '../render-ports.ts';
import type {Answer} from './answer.ts';
import type {ResourceType} from './blocked-resources.ts';
import {isEventStream} from './is-event-stream.ts';
import {requestHeaders} from './request-headers.ts';
import {RequestQueue} from './request-queue.ts';
import {responseHeaders} from './response-headers.ts';

/** A page may not make a flood of us. */
const MAX_REQUESTS = 1000;
const REFUSED: Answer = {refuse: 'BlockedByClient'};

/** Everything that one page loads beside its document. */
export class Subresources {
  /** FR-WF-BROWSER-METHOD-01: some request was neither GET nor HEAD. */
  blockedNonGet = false;
  readonly #settings: RenderSettings;
  readonly #ports: RenderPorts;
  readonly #budget: Budget;
  readonly #queue = new RequestQueue();
  readonly #logged = new Set<string>();
  #requests = 0;
  #bytes = 0;

  constructor(settings: RenderSettings, ports: RenderPorts, budget: Budget) {
    this.#settings = settings;
    this.#ports = ports;
    this.#budget = budget;
  }

  async load(paused: PausedRequest): Promise<Answer> {
    const {method} = paused.request;
    if (method !== 'GET' && method !== 'HEAD') {
      this.blockedNonGet = true;
      return REFUSED;
    }
    // FR-WF-11h: before anything is sent.
    if (!this.#mayLoad(paused) || this.#spent) return REFUSED;
    this.#requests += 1;
    if (this.#requests > MAX_REQUESTS) {
      this.#warn('subresource_limit', paused.request.url, `More than ${MAX_REQUESTS} requests`);
      return REFUSED;
    }
    return this.#queue.run(originOf(paused.request.url), () => this.#fetch(paused, method));
  }

  async #fetch({request}: PausedRequest, method: 'GET' | 'HEAD'): Promise<Answer> {
    if (this.#spent) return REFUSED;
    const {clock, openUrl} = this.#ports;
    const budget = new Budget(this.#budget.remainingMs(), clock, this.#budget.signal);
    try {
      const headers = requestHeaders(request.headers);
      const response = await openUrl(request.url, {method, headers}, budget);
      if (!response.ok) return this.#failed(response.error, request.url);
      return await this.#takeOver(response.value, request.url, method);
    } finally {
      budget.close();
    }
  }

  /** A redirect goes back to Chromium, which asks again for its target: every hop is checked. */
  async #takeOver(response: HttpResponse, url: string, method: 'GET' | 'HEAD'): Promise<Answer> {
    const {status} = response;
    const headers = responseHeaders(response.headers);
    if (REDIRECT_STATUSES.has(status) || method === 'HEAD') {
      response.discard();
      return {status, headers};
    }
    const {max_total_subresource_bytes: total} = this.#settings.options;
    const left = total - this.#bytes;
    const body = await response.read(Math.min(this.#settings.maxDownloadBytes, left));
    if (!body.ok) {
      // FR-WF-BROWSER-BUDGET-01: a resource that does not fit what is left spends the budget.
      if (body.error.code === 'response_too_large' && left < this.#settings.maxDownloadBytes) {
        this.#bytes = total;
        return this.#overBudget(url);
      }
      return this.#failed(body.error, url);
    }
    this.#bytes += body.value.length;
    return this.#bytes > total ? this.#overBudget(url) : {status, headers, body: body.value};
  }

  #overBudget(url: string): Answer {
    const {max_total_subresource_bytes: total} = this.#settings.options;
    this.#warn('subresource_budget_exceeded', url, `More than ${total} bytes beside the document`);
    return REFUSED;
  }

  #mayLoad(paused: PausedRequest): boolean {
    const {resourceType, request} = paused;
    const accept = headerOf(request.headers, 'accept');
    // Ruling G2: service workers answer requests that nobody sees.
    if (headerOf(request.headers, 'service-worker') !== '') return false;
    const {blocked} = this.#settings;
    if (blocked.has(resourceType as ResourceType)) return false;
    // Interception has one name for fetch() and XMLHttpRequest, and none for icons, events and prefetches.
    if (blocked.has('EventSource') && isEventStream(paused)) return false;
    if (blocked.has('Prefetch') && headerOf(request.headers, 'sec-purpose').startsWith('prefetch'))
      return false;
    if (resourceType === 'XHR' && blocked.has('Fetch')) return false;
    return !(resourceType === 'Other' && accept.startsWith('image/') && blocked.has('Image'));
  }

  get #spent(): boolean {
    return this.#budget.spent || this.#bytes >= this.#settings.options.max_total_subresource_bytes;
  }

  #failed(failure: Failure, url: string): Answer {
    const {code, message, details} = failure;
    if (code !== 'cancelled') this.#warn(code, url, message, details);
    return {refuse: REASONS.get(code) ?? 'BlockedByClient'};
  }

  /** FR-WF-19c: once for each host and reason, so that a page cannot fill the log. */
  #warn(event: string, url: string, message: string, details: Failure['details'] = {}): void {
    const requested_host = toUrl(url)?.hostname ?? '';
    const key = `${event} ${requested_host}`;
    if (this.#logged.has(key) || this.#logged.size >= MAX_REQUESTS) return;
    this.#logged.add(key);
    this.#ports.log({
      level: 'warn',
      event,
      requested_host,
      rendering_method: 'browser',
      cache_hit: false,
      error_code: event,
      message,
      details,
    });
  }
}

const REASONS: ReadonlyMap<string, ErrorReason> = new Map([
  ['dns_failed', 'NameNotResolved'],
  ['network', 'ConnectionFailed'],
  ['timeout', 'TimedOut'],
  ['cancelled', 'Aborted'],
]);

function headerOf(headers: Readonly<Record<string, string>>, name: string): string {
  for (const [field, value] of Object.entries(headers)) if (field.toLowerCase() === name) return value;
  return '';
}

function originOf(url: string): string {
  return toUrl(url)?.origin ?? '';
}
