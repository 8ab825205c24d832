import {Budget} from '../core/budget.ts';
import type {Clock} from '../core/clock.ts';
import type {Log} from '../core/log.ts';
import type {Result} from '../core/result.ts';
import {SingleFlight} from '../core/single-flight.ts';
import {type Browser, createBrowser} from './browser/browser.ts';
import {type BrowserProbe, probeBrowser} from './browser/probe.ts';
import {openDiskCache} from './cache/disk-cache.ts';
import {PermanentRedirects} from './cache/permanent-redirects.ts';
import {type FetchLimits, type FetchOutcome, type FetchRequest, fetchPage} from './fetch-page.ts';
import type {FetchParts} from './fetch-parts.ts';
import {createGuard, type Guard} from './guard/admit.ts';
import {checkUrl} from './guard/check-url.ts';
import type {GuardPolicy} from './guard/guard-policy.ts';
import type {HostPins} from './guard/host-pins.ts';
import {type HostResolver, systemResolver} from './guard/host-resolver.ts';
import {createSsrfValidator} from './guard/ssrf-validator.ts';
import {logFetch} from './log-fetch.ts';
import {Offload} from './offload/offload.ts';
import type {WebFetchOptions} from './options.ts';
import type {HttpTransport, WebUrl} from './page.ts';
import {createRobotsAccess, type RobotsAccess} from './robots/robots-access.ts';
import {createHttpTransport} from './transport/http-transport.ts';
import type {ProxySettings} from './transport/proxy.ts';
import {parseUrl} from './url/parse-url.ts';
import {resolveUrl} from './url/resolve-url.ts';

export interface WebPorts {
  readonly log: Log;
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly resolver: HostResolver | undefined;
  readonly certificateAuthorities: readonly string[];
}

/** What was judged at start-up. */
export interface WebSettings {
  readonly policy: GuardPolicy;
  readonly proxy: ProxySettings | undefined;
}

export interface Web {
  readonly parts: FetchParts;
  readonly fetch: (request: FetchRequest, limits: FetchLimits) => Promise<Result<FetchOutcome>>;
  /** For `doctor`: whether a page could be rendered here, and what would keep it from the network. */
  readonly probeBrowser: (signal: AbortSignal) => Promise<Result<BrowserProbe>>;
  readonly close: () => Promise<void>;
}

const DAY_MS = 86_400_000;
const REMEMBERED_REDIRECTS = 10_000;

/** Wires the stages of `web_fetch`. */
export function assembleWeb(options: WebFetchOptions, {policy, proxy}: WebSettings, ports: WebPorts): Web {
  const {log, clock} = ports;
  const guard = createGuard(createSsrfValidator(policy, ports.resolver ?? systemResolver), policy);
  const {certificateAuthorities: ca} = ports;
  const transport = createHttpTransport({proxy, ca: ca.length > 0 ? ca : undefined});
  const headers = requestHeaders(options);
  const offload = new Offload();
  const browser = webBrowser(options, ports);
  const ttlMs = options.cache_ttl_days * DAY_MS;
  const parts: FetchParts = {
    options,
    policy,
    guard,
    robots: robotsAccess(options, {guard, policy, transport, headers}, ports),
    transport,
    browser,
    offload,
    cache: openDiskCache({
      directory: options.cache_dir,
      ttlDays: options.cache_ttl_days,
      maxEntries: options.max_cache_entries,
      maxBytes: options.max_cache_bytes,
      clock,
      log,
    }),
    redirects: new PermanentRedirects(REMEMBERED_REDIRECTS, ttlMs, clock),
    flights: new SingleFlight(),
    headers,
    clock,
    log,
  };
  const close = async (): Promise<void> => {
    await Promise.all([browser.close(), transport.close(), offload.close()]);
  };
  return {
    parts,
    fetch: (request, limits) => logFetch(request, {log, clock}, () => fetchPage(request, limits, parts)),
    probeBrowser: signal => probeBrowser(browser, signal),
    close,
  };
}

function webBrowser(options: WebFetchOptions, {clock, log, env}: WebPorts): Browser {
  return createBrowser({
    options: options.browser,
    path: env['PATH'] ?? '',
    tempDir: env['TMPDIR'] || '/tmp',
    clock,
    log,
  });
}

/** FR-WF-10b, ruling C5. */
function requestHeaders(options: WebFetchOptions): Readonly<Record<string, string>> {
  const markdown = options.http.accept_markdown ? 'text/markdown,' : '';
  return {
    'User-Agent': options.user_agent,
    Accept: `${markdown}text/html,application/xhtml+xml,text/plain;q=0.9,*/*;q=0.1`,
    'Accept-Encoding': 'gzip, deflate, br',
  };
}

interface HopParts {
  readonly guard: Guard;
  readonly policy: GuardPolicy;
  readonly transport: HttpTransport;
  readonly headers: Readonly<Record<string, string>>;
}

function robotsAccess(
  options: WebFetchOptions,
  {guard, policy, transport, headers}: HopParts,
  {clock, log}: WebPorts,
): RobotsAccess<HostPins> {
  return createRobotsAccess<HostPins>({
    settings: options,
    clock,
    log,
    makeBudget: cancel => new Budget(options.timeout_seconds * 1000, clock, cancel),
    openHop: async (url, pins, budget) => {
      const checked = checkUrl(url, policy);
      if (!checked.ok) return checked;
      const target = await guard.admit(checked.value, pins, budget);
      return target.ok ? transport.request(target.value, {method: 'GET', headers}, budget) : target;
    },
    resolveLocation: resolveUrl,
    robotsUrl,
  });
}

function robotsUrl({origin}: WebUrl): WebUrl {
  const url = parseUrl(`${origin}/robots.txt`);
  // An origin was printed by the parser that reads it here.
  if (!url.ok) throw new TypeError(`Expected an origin, got "${origin}"`);
  return url.value;
}
