// Wires the stages of the pipeline together.

import {createHash} from 'node:crypto';
import {readFileSync} from 'node:fs';
import {SingleFlight} from '../core/async.ts';
import type {Clock} from '../core/clock.ts';
import type {Log} from '../core/log.ts';
import {LruCache} from '../core/lru-cache.ts';
import {packageFile} from '../core/package-file.ts';
import type {HostGate, SharedBodies} from '../core/replicas.ts';
import type {Result} from '../core/result.ts';
import {type Browser, createBrowser} from './browser/browser.ts';
import {type DiskCache, openDiskCache} from './cache/disk-cache.ts';
import {DEFAULT_WORKER_POOL, WorkerPool} from './convert/worker-pool.ts';
import {createGuard, createSsrfValidator} from './guard/guard.ts';
import type {GuardPolicy} from './guard/policy.ts';
import {createSystemResolver, type HostResolver} from './guard/resolver.ts';
import type {FetchRun, HopContext, HostReach} from './navigate/fetch-run.ts';
import {defaultMedia} from './navigate/headers.ts';
import type {ExtractionMode, WebFetchOptions} from './options.ts';
import type {CanonicalUrl, Credential, ExtraMedia, Page, RequestSigner} from './page.ts';
import {createRobotsAccess} from './robots/access.ts';
import type {SearchPorts} from './search/search-web.ts';
import {Snapshots} from './snapshots.ts';
import {createHttpTransport} from './transport/http-transport.ts';
import type {ProxySettings} from './transport/proxy.ts';

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
  readonly search?: Pick<SearchPorts, 'options' | 'engines' | 'configFile'> | undefined;
}

/** What a load that is under way for one caller or several comes to, and where it was led. */
export interface SharedLoad {
  readonly reach: HostReach;
  readonly page: Result<Page>;
}

/** What lives as long as the toolbox. */
export interface WebContext extends HopContext {
  readonly browser: Browser;
  readonly workers: WorkerPool;
  readonly cache: DiskCache;
  /** Ruling F2: which URLs lead to which for good. */
  readonly redirects: LruCache<CanonicalUrl>;
  readonly snapshots: Snapshots;
  readonly sharedLoads: SingleFlight<SharedLoad>;
  /** Where the replicas share what they load. (S1) */
  readonly bodies?: SharedBodies | undefined;
  /** What a document depends on of ours, for request headers of these: see `Validators.asked_as`. */
  readonly requestFingerprint: (headers: Readonly<Record<string, string>>) => string;
  /** Ruling R3: what reading tools read. */
  readonly reads: ReadonlySet<ExtraMedia>;
  /** R2: what is taken for the content of a page that is read. */
  readonly readingMode: ExtractionMode;
}

const DAY_MS = 86_400_000;
const REMEMBERED_REDIRECTS = 10_000;

/** Wires the stages of `web_fetch`. */
export function createWebContext(
  options: WebFetchOptions,
  {policy, proxy, credentials, signer, readingMode}: WebSettings,
  ports: WebPorts,
): WebContext {
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
  return {
    ...{
      options,
      policy,
      guard,
      transport,
      browser,
      workers,
      cache,
      headers,
      credentials,
      signer,
      readingMode,
    },
    robots: createRobotsAccess<FetchRun>({
      ...{options, clock, log},
      openHop: (url, run, budget) => run.openRobots(url, budget),
      bodies: ports.replicas?.bodies,
    }),
    redirects: new LruCache({entries: REMEMBERED_REDIRECTS, ttlMs}, clock),
    snapshots: new Snapshots(cache, credentials),
    sharedLoads: new SingleFlight(),
    requestFingerprint: requestFingerprint(options),
    reads: new Set([...(ports.reads ?? []), ...defaultMedia(options)]),
    bodies: ports.replicas?.bodies,
    hosts: ports.replicas?.hosts,
    clock,
    log,
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
function requestFingerprint({
  extraction,
}: WebFetchOptions): (headers: Readonly<Record<string, string>>) => string {
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

/** FR-WF-19c: the fields that every line has, where what happened belongs to no page. */
function completeLog(log: Log): Log {
  return event => log({requested_host: '', rendering_method: 'http', cache_hit: false, ...event});
}
