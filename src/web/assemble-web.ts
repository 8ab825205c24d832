import {createHash} from 'node:crypto';
import {readFileSync} from 'node:fs';
import {SingleFlight} from '../core/async/single-flight.ts';
import {Budget} from '../core/budget.ts';
import type {Clock} from '../core/clock.ts';
import type {Log} from '../core/log.ts';
import {packageFile} from '../core/package-file.ts';
import type {HostGate} from '../core/replicas/host-gate.ts';
import type {SharedBodies} from '../core/replicas/shared-bodies.ts';
import {ok, type Result} from '../core/result.ts';
import {type Browser, createBrowser} from './browser/browser.ts';
import {type BrowserProbe, probeBrowser} from './browser/probe.ts';
import {openDiskCache} from './cache/disk-cache.ts';
import {PermanentRedirects} from './cache/permanent-redirects.ts';
import {DEFAULT_WORKER_POOL, WorkerPool} from './convert/worker-pool.ts';
import {
  type FetchLimits,
  type FetchOutcome,
  type FetchPageDeps,
  type FetchRequest,
  fetchPage,
} from './fetch-page.ts';
import {checkUrl} from './guard/check-url.ts';
import {createGuard, type Guard} from './guard/create-guard.ts';
import type {HostResolver} from './guard/dns/host-resolver.ts';
import {createSystemResolver} from './guard/dns/system-resolver.ts';
import type {GuardPolicy} from './guard/guard-policy.ts';
import {createSsrfValidator} from './guard/ssrf-validator.ts';
import {completeLog, logFetch} from './log-fetch.ts';
import {askHost} from './navigate/ask-host.ts';
import {authorizeHop} from './navigate/authorize-hop.ts';
import {type FetchedFile, fetchFile} from './navigate/fetch-file.ts';
import type {HostCall} from './navigate/host-call.ts';
import type {ExtractionMode, WebFetchOptions} from './options.ts';
import type {Credential, ExtraMedia, HttpTransport, RequestSigner, WebUrl} from './page.ts';
import {
  type DocumentRequest,
  type QuoteOutcome,
  quotePage,
  type ReadLimits,
  type ReadOutcome,
  type ReadRequest,
  readPage,
} from './read-page.ts';
import {ownMedia} from './reading-variant.ts';
import {createRobotsAccess, type RobotsAccess} from './robots/robots-access.ts';
import {Snapshots} from './snapshots.ts';
import type {ProxySettings} from './transport/connect/proxy.ts';
import {createHttpTransport} from './transport/http-transport.ts';
import {parseUrl} from './url/parse-url.ts';
import {resolveUrl} from './url/resolve-url.ts';

export interface WebPorts {
  readonly log: Log;
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether nobody else's code runs in the process. Default: no. */
  readonly ownsProcess?: boolean | undefined;
  readonly resolver: HostResolver | undefined;
  readonly certificateAuthorities: readonly string[];
  /** Real paths of trees of which no program is run, such as the workspace. */
  readonly untrustedTrees: readonly string[];
  /** Ruling R3: what reading tools read beside HTML and plain text. Default: nothing. */
  readonly reads?: ReadonlySet<ExtraMedia>;
  /** Ruling S1: what is shared with other replicas. Default: nothing. */
  readonly replicas?: Replicas | undefined;
}

export interface Replicas {
  readonly bodies: SharedBodies;
  readonly hosts: HostGate;
}

/** What was checked at start-up. */
export interface WebSettings {
  /** R2: of what is read; `options` say it for what is fetched. */
  readonly readingMode: ExtractionMode;
  readonly policy: GuardPolicy;
  readonly proxy: ProxySettings | undefined;
  readonly credentials: readonly Credential[];
  readonly signer: RequestSigner | undefined;
}

export interface Web {
  readonly deps: FetchPageDeps;
  readonly fetch: (request: FetchRequest, limits: FetchLimits) => Promise<Result<FetchOutcome>>;
  /** Ruling R1: what an answer needs of a page, and whether it says what it is quoted for. */
  readonly read: (request: ReadRequest, limits: ReadLimits) => Promise<Result<ReadOutcome>>;
  readonly quote: (
    request: DocumentRequest & {readonly quotes: readonly string[]},
    limits: ReadLimits,
  ) => Promise<Result<QuoteOutcome>>;
  /** A file as it is, on the terms of a page. */
  readonly file: (
    url: string,
    limits: {readonly maxBytes: number; readonly signal: AbortSignal},
  ) => Promise<Result<FetchedFile>>;
  /** The address that a snapshot was read from, if it is remembered. */
  readonly snapshotAddress: (snapshot: string) => string | undefined;
  /** For `doctor`: whether a page could be rendered here, and what would keep it from the network. */
  readonly probeBrowser: (signal: AbortSignal) => Promise<Result<BrowserProbe>>;
  readonly close: () => Promise<void>;
}

const DAY_MS = 86_400_000;
const REMEMBERED_REDIRECTS = 10_000;

/** Wires the stages of `web_fetch`. */
export function assembleWeb(
  options: WebFetchOptions,
  {policy, proxy, credentials, signer, readingMode}: WebSettings,
  ports: WebPorts,
): Web {
  const {clock} = ports;
  const log = completeLog(ports.log);
  const guard = createGuard(createSsrfValidator(policy, ports.resolver ?? createSystemResolver()), policy);
  const {certificateAuthorities: ca} = ports;
  const transport = createHttpTransport({
    proxy,
    ca: ca.length > 0 ? ca : undefined,
    extraCaFile: ports.env['NODE_EXTRA_CA_CERTS'],
  });
  const headers = requestHeaders(options);
  const workers = new WorkerPool({...DEFAULT_WORKER_POOL, ownsProcess: ports.ownsProcess ?? false});
  const browser = webBrowser(options, {...ports, log});
  const ttlMs = options.cache_ttl_days * DAY_MS;
  const cache = openDiskCache({
    directory: options.cache_dir,
    ttlDays: options.cache_ttl_days,
    maxEntries: options.max_cache_entries,
    maxBytes: options.max_cache_bytes,
    clock,
    log,
  });
  const deps: FetchPageDeps = {
    options,
    policy,
    guard,
    robots: robotsAccess(options, {guard, policy, transport, headers}, {...ports, log}),
    transport,
    browser,
    workers,
    cache,
    redirects: new PermanentRedirects(REMEMBERED_REDIRECTS, ttlMs, clock),
    sharedLoads: new SingleFlight(),
    headers,
    credentials,
    signer,
    askedAs: askedAs(options),
    bodies: ports.replicas?.bodies,
    hosts: ports.replicas?.hosts,
    clock,
    log,
  };
  const close = async (): Promise<void> => {
    await Promise.all([browser.close(), transport.close(), workers.close(), cache.settled()]);
  };
  const fetch: Web['fetch'] = (request, limits) =>
    logFetch(request, {log, clock, options}, () => fetchPage(request, limits, deps));
  const snapshots = new Snapshots(cache, credentials);
  const reads = new Set([...(ports.reads ?? []), ...ownMedia(options)]);
  const reading = {
    options,
    policy,
    workers,
    clock,
    log,
    snapshots,
    reads,
    mode: readingMode,
    fetchPage: fetch,
  };
  return {
    deps,
    fetch,
    read: (request, limits) => readPage(request, limits, reading),
    quote: (request, limits) => quotePage(request, limits, reading),
    file: (url, limits) => fetchFile(url, limits, deps),
    snapshotAddress: snapshot => snapshots.addressOf(snapshot),
    probeBrowser: signal => probeBrowser(browser, signal),
    close,
  };
}

function webBrowser(options: WebFetchOptions, {clock, log, env, untrustedTrees}: WebPorts): Browser {
  return createBrowser({
    options: options.browser,
    places: {path: env['PATH'], untrustedTrees},
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

/** What a document depends on of ours: the request headers, the rules of extraction, and the version that has them. */
function askedAs({extraction}: WebFetchOptions): (headers: Readonly<Record<string, string>>) => string {
  const version = ownVersion();
  return headers => {
    const hash = createHash('sha256').update(JSON.stringify([version, extraction, headers]));
    return hash.digest('hex').slice(0, 16);
  };
}

/** Not worth a call: where it cannot be read, what another version kept is asked about as our own. */
function ownVersion(): unknown {
  try {
    const manifest: {readonly version?: unknown} = JSON.parse(
      readFileSync(packageFile('package.json'), 'utf8'),
    );
    return manifest.version;
  } catch {
    return undefined;
  }
}

interface HopDeps {
  readonly guard: Guard;
  readonly policy: GuardPolicy;
  readonly transport: HttpTransport;
  readonly headers: Readonly<Record<string, string>>;
}

function robotsAccess(
  options: WebFetchOptions,
  {guard, policy, transport, headers}: HopDeps,
  {clock, log, replicas}: WebPorts,
): RobotsAccess<HostCall> {
  return createRobotsAccess<HostCall>({
    settings: options,
    clock,
    log,
    methodOf: ({method}) => method,
    makeBudget: cancel => new Budget(options.timeout_seconds * 1000, clock, cancel),
    openHop: async (url, hosts, budget) => {
      const checked = checkUrl(url, policy, hosts.openings.hold);
      if (!checked.ok) return checked;
      const target = await authorizeHop(checked.value, hosts, guard, budget);
      if (!target.ok) return target;
      const asked = await askHost(
        url.host,
        {hosts: replicas?.hosts, clock},
        // That the host is busy is said before the time of robots.txt is over.
        0.9 * budget.remainingMs(),
        budget,
        () => transport.request(target.value, {method: 'GET', headers}, budget),
      );
      return asked.ok ? ok(asked.value.response) : asked;
    },
    resolveLocation: resolveUrl,
    robotsUrl,
    bodies: replicas?.bodies,
  });
}

function robotsUrl({origin}: WebUrl): WebUrl {
  const url = parseUrl(`${origin}/robots.txt`);
  // An origin was printed by the parser that reads it here.
  if (!url.ok) throw new TypeError(`Expected an origin, got "${origin}"`);
  return url.value;
}
