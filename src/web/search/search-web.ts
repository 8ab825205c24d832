// Asks the operator's search engines: the first that answers, or all of them. Every request passes the guard. Results
// are kept in memory for some minutes, and an engine that says "too many" is left alone for as long as it wants.

import {type Failure, fail, ok, type Result} from '../../core/result.ts';
import {stripInvisible} from '../../core/text/invisible.ts';
import {retryAfterMs} from '../../core/text/parse.ts';
import {withWayToOpen} from '../guard/guard.ts';
import {FetchRun, type HopContext, HostReach} from '../navigate/fetch-run.ts';
import type {WebSearchOptions} from '../options.ts';
import type {Credential, HttpResponse, MayReach} from '../page.ts';
import {parseUrl} from '../url.ts';
import {PAGES_OF_ITS_OWN, rawResults, type SearchQuery, searchAddress} from './engines.ts';
import {cleanResult, fitResults, mergeResults, type SearchResult} from './results.ts';

/** An entry of the configuration with what start-up read for it. */
export interface SearchEngine {
  /** How answers name it. */
  readonly name: string;
  readonly settings: WebSearchOptions['engines'][number];
  readonly credential: Credential | undefined;
}

export interface SearchRequest extends SearchQuery {
  /** Seconds: results that were found longer ago are asked for again. */
  readonly max_age: number | undefined;
}

export interface SearchOutcome {
  /** The engines whose results these are. */
  readonly engines: readonly string[];
  readonly results: readonly SearchResult[];
  /** The next page, where there is more. */
  readonly next_page: number | undefined;
  /** Engines that gave nothing, and why. */
  readonly failed: readonly {readonly engine: string; readonly code: string; readonly message: string}[];
}

export interface SearchLimits {
  readonly signal: AbortSignal;
  readonly mayReach: MayReach | undefined;
}

export interface SearchPorts {
  readonly options: Pick<WebSearchOptions, 'timeout_seconds' | 'cache_minutes' | 'merge'>;
  readonly engines: readonly SearchEngine[];
  readonly context: HopContext;
  /** Failures of the guard name it. */
  readonly configFile: string | undefined;
}

const LARGEST_ANSWER = 2_097_152;
const MOST_KEPT = 200;
/** Pages of an engine that are read for one of ours. */
const MOST_PAGES = 5;
const PAUSE_MS = 30_000;
const PAUSING: ReadonlySet<number> = new Set([429, 503]);

interface Kept {
  readonly results: readonly SearchResult[];
  /** Monotonic milliseconds. */
  readonly at: number;
}

export class WebSearch {
  readonly #ports: SearchPorts;
  /** By the address that was asked; the oldest first. */
  readonly #kept = new Map<string, Kept>();
  /** Monotonic milliseconds until which an engine is left alone. */
  readonly #pausedUntil = new Map<SearchEngine, number>();

  constructor(ports: SearchPorts) {
    this.#ports = ports;
  }

  /** Fails only where no engine answered, as the last of them did. */
  async search(request: SearchRequest, limits: SearchLimits): Promise<Result<SearchOutcome>> {
    const {engines, options} = this.#ports;
    const lists: (readonly SearchResult[])[] = [];
    const answered: string[] = [];
    const failures: {readonly engine: string; readonly error: Failure}[] = [];
    const take = (engine: SearchEngine, found: Result<readonly SearchResult[]>): void => {
      if (!found.ok) failures.push({engine: engine.name, error: found.error});
      else {
        answered.push(engine.name);
        lists.push(found.value);
      }
    };
    if (options.merge) {
      const all = await Promise.all(engines.map(engine => this.#find(engine, request, limits)));
      all.forEach((found, at) => {
        const engine = engines[at];
        if (engine !== undefined) take(engine, found);
      });
    } else {
      for (const engine of engines) {
        if (lists.length > 0 || limits.signal.aborted) break;
        take(engine, await this.#find(engine, request, limits));
      }
    }
    const [failure] = failures.slice(-1);
    if (lists.length === 0 && failure !== undefined) return {ok: false, error: failure.error};
    const merged = mergeResults(lists);
    const results = fitResults(merged, request.max_results);
    return ok({
      engines: answered,
      results,
      next_page: merged.length >= request.max_results ? request.page + 1 : undefined,
      failed: failures.map(({engine, error: {code, message}}) => ({engine, code, message})),
    });
  }

  /** The results of one page of ours, whose size an engine may not know. */
  async #find(
    engine: SearchEngine,
    request: SearchRequest,
    limits: SearchLimits,
  ): Promise<Result<readonly SearchResult[]>> {
    if (!PAGES_OF_ITS_OWN.has(engine.settings.kind)) return this.#findPage(engine, request, limits);
    const {page, max_results} = request;
    const found: SearchResult[] = [];
    for (let at = 1; at <= MOST_PAGES && found.length < page * max_results; at += 1) {
      const next = await this.#findPage(engine, {...request, page: at}, limits);
      if (!next.ok && found.length === 0) return next;
      if (!next.ok || next.value.length === 0) break;
      found.push(...next.value);
    }
    return ok(mergeResults([found]).slice((page - 1) * max_results, page * max_results));
  }

  async #findPage(
    engine: SearchEngine,
    request: SearchRequest,
    limits: SearchLimits,
  ): Promise<Result<readonly SearchResult[]>> {
    const {
      context: {clock},
      options,
    } = this.#ports;
    const {kind} = engine.settings;
    const address = searchAddress(kind, engine.settings, request);
    const longestMs =
      1000 * Math.min(60 * options.cache_minutes, request.max_age ?? Number.POSITIVE_INFINITY);
    const kept = this.#kept.get(address);
    if (kept !== undefined && clock.monotonic() - kept.at < longestMs) return ok(kept.results);
    const answer = await this.#ask(engine, address, limits);
    if (!answer.ok) return answer;
    const raw = rawResults(kind, answer.value, request);
    if (raw === undefined) return this.#notResults(engine, 'its JSON has no list of results');
    const silent = raw.length === 0 ? silentEngines(answer.value) : '';
    if (silent !== '')
      return fail(
        'network',
        `The search engine "${engine.name}" found nothing, as its own engines failed: ${silent}. Retry later.`,
        {error: 'engines_failed'},
      );
    const results = mergeResults([raw.flatMap(one => cleanResult(one) ?? [])]);
    this.#kept.delete(address);
    this.#kept.set(address, {results, at: clock.monotonic()});
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MOST_KEPT) break;
      this.#kept.delete(oldest);
    }
    return ok(results);
  }

  /** The JSON that an engine answers with. */
  async #ask(
    engine: SearchEngine,
    address: string,
    {signal, mayReach}: SearchLimits,
  ): Promise<Result<unknown>> {
    const {context, options, configFile} = this.#ports;
    const waitMs = (this.#pausedUntil.get(engine) ?? 0) - context.clock.monotonic();
    if (waitMs > 0) return busy(engine, waitMs);
    const url = parseUrl(address);
    if (!url.ok) return url;
    const {credential} = engine;
    const headers = {
      'User-Agent': context.options.user_agent,
      Accept: 'application/json',
      'Accept-Encoding': 'gzip, deflate, br',
      ...(credential !== undefined && {[credential.header]: credential.value()}),
    };
    const {timeout_seconds} = options;
    const run = new FetchRun(
      {...context, options: {...context.options, timeout_seconds}},
      {method: 'http', reach: new HostReach(url.value, mayReach), signal},
    );
    try {
      const opened = await run.openEngine(url.value, headers);
      if (opened.ok) return await this.#read(engine, opened.value);
      return {ok: false, error: withWayToOpen(opened.error, url.value, context.policy, configFile)};
    } finally {
      await run.close();
    }
  }

  async #read(engine: SearchEngine, response: HttpResponse): Promise<Result<unknown>> {
    const {status, headers} = response;
    if (status !== 200) {
      response.discard();
      return this.#refused(engine, response);
    }
    const [type = 'nothing'] = headers.get('content-type') ?? [];
    if (!/^application\/(?:[\w.+-]+\+)?json\b/i.test(type)) {
      response.discard();
      return this.#notResults(engine, `it sent ${JSON.stringify(type.slice(0, 60))}`);
    }
    const body = await response.read(LARGEST_ANSWER);
    if (!body.ok) return body;
    try {
      return ok(JSON.parse(Buffer.from(body.value).toString('utf8')));
    } catch {
      return this.#notResults(engine, 'its JSON cannot be read');
    }
  }

  #refused(engine: SearchEngine, {status, statusText, headers}: HttpResponse): Result<never> {
    const {clock} = this.#ports.context;
    const [written = ''] = headers.get('retry-after') ?? [];
    if (PAUSING.has(status)) {
      const pauseMs = retryAfterMs(written.trim(), clock.now()) ?? PAUSE_MS;
      this.#pausedUntil.set(engine, clock.monotonic() + pauseMs);
      return busy(engine, pauseMs);
    }
    const details = {status, status_text: statusText.slice(0, 200)};
    const said = `The search engine "${engine.name}" answered ${status}.`;
    if (status >= 500) return fail('http_5xx', `${said} Retry later.`, details);
    if (status < 400) {
      const advice = 'Correct its endpoint in tools.websearch.engines; redirects are not followed.';
      return fail('network', `${said} ${advice}`, {error: 'unexpected_status', status});
    }
    const advice =
      engine.settings.kind === 'searxng'
        ? 'SearXNG answers programs where search.formats of its settings.yml lists json.'
        : 'Check its key and endpoint in tools.websearch.engines.';
    return fail('http_4xx', `${said} ${advice}`, details, {retryable: false});
  }

  #notResults({name}: SearchEngine, what: string): Result<never> {
    const message = `The search engine "${name}" gave no results: ${what}. Check its endpoint in tools.websearch.engines, or open it in a browser: it may want a captcha.`;
    return fail('unsupported_content_type', message, {content_type: what});
  }
}

function busy({name}: SearchEngine, waitMs: number): Result<never> {
  const seconds = Math.ceil(waitMs / 1000);
  return fail('host_busy', `The search engine "${name}" wants to be left alone for ${seconds} s.`, {
    host: name,
    reason: 'too many requests',
    retry_after: seconds,
  });
}

/** SearXNG answers 200 where the engines behind it gave nothing. */
function silentEngines(answer: unknown): string {
  const {unresponsive_engines: engines} = answer as {unresponsive_engines?: unknown};
  if (!Array.isArray(engines)) return '';
  const named = engines
    .slice(0, 5)
    .map(engine => (Array.isArray(engine) ? engine.slice(0, 2).join(': ') : ''));
  return stripInvisible(named.filter(Boolean).join('; ')).slice(0, 200);
}
