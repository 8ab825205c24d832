// Loads what a page asks for beside its document, within its limits.

import {Deadline} from '../../core/deadline.ts';
import type {Failure} from '../../core/result.ts';
import {toUrl} from '../../core/text/parse.ts';
import {type HttpResponse, REDIRECT_STATUSES} from '../page.ts';
import type {ErrorReason, PausedRequest} from './cdp.ts';
import {
  type Answer,
  isEventStream,
  type RenderPorts,
  type RenderSettings,
  type ResourceType,
  requestHeaders,
  responseHeaders,
} from './requests.ts';

/** A page may not make a flood of us. */
const MAX_REQUESTS = 1000;
const REFUSED: Answer = {refuse: 'BlockedByClient'};

/** Everything that one page loads beside its document. */
export class Subresources {
  /** FR-WF-BROWSER-METHOD-01: some request was neither GET nor HEAD. */
  blockedNonGet = false;
  readonly #settings: RenderSettings;
  readonly #ports: RenderPorts;
  readonly #budget: Deadline;
  readonly #queue = new RequestQueue();
  readonly #logged = new Set<string>();
  #requests = 0;
  #bytes = 0;

  constructor(settings: RenderSettings, ports: RenderPorts, budget: Deadline) {
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
    const budget = new Deadline(this.#budget.remainingMs(), clock, this.#budget.signal);
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

const MAX_AT_ONCE = 24;
/** What browsers allow themselves towards one origin over HTTP/1.1. */
const MAX_AT_ONCE_PER_ORIGIN = 6;

interface Waiting {
  readonly origin: string;
  readonly go: () => void;
}

/** Lets so many requests run at once, so that a page cannot make a flood of us. First come, first served. */
export class RequestQueue {
  readonly #running = new Map<string, number>();
  #total = 0;
  #waiting: Waiting[] = [];

  async run<Value>(origin: string, work: () => Promise<Value>): Promise<Value> {
    if (!this.#mayRun(origin)) {
      await new Promise<void>(go => this.#waiting.push({origin, go}));
    } else this.#enter(origin);
    try {
      return await work();
    } finally {
      this.#leave(origin);
    }
  }

  #mayRun(origin: string): boolean {
    return this.#total < MAX_AT_ONCE && (this.#running.get(origin) ?? 0) < MAX_AT_ONCE_PER_ORIGIN;
  }

  #enter(origin: string): void {
    this.#total += 1;
    this.#running.set(origin, (this.#running.get(origin) ?? 0) + 1);
  }

  #leave(origin: string): void {
    this.#total -= 1;
    const left = (this.#running.get(origin) ?? 1) - 1;
    if (left > 0) this.#running.set(origin, left);
    else this.#running.delete(origin);
    const place = this.#waiting.findIndex(waiting => this.#mayRun(waiting.origin));
    if (place === -1) return;
    for (const next of this.#waiting.splice(place, 1)) {
      // Its place is taken before anyone else can ask.
      this.#enter(next.origin);
      next.go();
    }
  }
}
