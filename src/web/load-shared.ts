import type {SingleFlight} from '../core/async/single-flight.ts';
import {Budget} from '../core/budget.ts';
import {fail} from '../core/failure/fail.ts';
import {randomHex} from '../core/random.ts';
import type {SharedBodies} from '../core/replicas/shared-bodies.ts';
import type {Result} from '../core/result.ts';
import type {Browser} from './browser/browser.ts';
import type {DiskCache} from './cache/disk-cache.ts';
import type {NewCacheEntry} from './cache/entry.ts';
import {pageAddress} from './cache/page-address.ts';
import {printSharedEntry, readSharedEntry} from './cache/shared-entry.ts';
import {credentialFor} from './credentials/credential-origin.ts';
import {type FindCachedDeps, findCached} from './find-cached.ts';
import {type LoadPageDeps, loadPage} from './load-page.ts';
import {HostReach, type MayReach} from './navigate/host-reach.ts';
import {Navigation} from './navigate/navigation.ts';
import type {WebFetchOptions} from './options.ts';
import type {CheckedUrl, LoadedPage, ReadingTerms} from './page.ts';
import {readingVariant} from './reading-variant.ts';
import type {Rendering} from './render/choose-rendering.ts';
import {loadOnce} from './replicas/load-once.ts';

const DAY_MS = 86_400_000;

/** What a load that is under way for one caller or several comes to, and where it was led. */
export interface SharedLoad {
  readonly reach: HostReach;
  readonly page: Result<LoadedPage>;
}

export type LoadSharedDeps = LoadPageDeps & {
  readonly sharedLoads: SingleFlight<SharedLoad>;
  readonly browser: Pick<Browser, 'isThere' | 'settled'>;
  /** Ruling S1: where the replicas share what they load. */
  readonly bodies?: SharedBodies | undefined;
  readonly options: Pick<WebFetchOptions, 'cache_ttl_days'>;
} & Omit<FindCachedDeps, 'cache'>;

interface LoadRequest {
  readonly rendering: Rendering;
  readonly noCache: boolean;
  readonly maxChunkTokens: number;
  readonly mayReach: MayReach | undefined;
  readonly reading: ReadingTerms | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Ruling F8: identical fetches at the same time are one, as long as their rules on hosts lead them the same way. */
export async function loadShared(
  start: CheckedUrl,
  {mayReach, signal: caller, ...request}: LoadRequest,
  deps: LoadSharedDeps,
): Promise<Result<LoadedPage>> {
  const {rendering, noCache, reading} = request;
  const wanted = rendering.method === 'browser' ? rendering.origin : 'http';
  // One page for each way of reading it (rulings R2, R3).
  const terms = `${reading ? 'reading' : 'own'}:${readingVariant(reading, deps.options)}`;
  const common = `${wanted} ${noCache} ${terms} ${start.url.canonical}`;
  for (const key of [common, `${common} ${randomHex(8)}`]) {
    const shared = await deps.sharedLoads.share(key, caller, async signal => {
      const reach = new HostReach(start.url, mayReach);
      return {reach, page: await loadAcross(start, request, mayReach, deps, reach, signal)};
    });
    if (!shared) break;
    const {page, reach} = shared.value;
    if (reach.agreesWith(mayReach)) return page;
  }
  // Ruling G6: what the cancelled fetch had of a browser is gone before the call returns.
  await deps.browser.settled();
  return fail('cancelled', 'The call was cancelled while the page was fetched.');
}

/** Ruling S1: identical fetches of several replicas are one. What a credential shows is nobody else's. */
async function loadAcross(
  start: CheckedUrl,
  request: Omit<LoadRequest, 'mayReach' | 'signal'>,
  mayReach: MayReach | undefined,
  deps: LoadSharedDeps,
  reach: HostReach,
  signal: AbortSignal,
): Promise<Result<LoadedPage>> {
  const {bodies, cache, options, clock, credentials} = deps;
  const {rendering, reading, noCache} = request;
  const {canonical, origin} = start.url;
  if (bodies === undefined || credentialFor(origin, credentials)) {
    return loadPage(start, request, deps, reach, signal);
  }
  const variant = readingVariant(reading, options);
  const address = pageAddress(canonical, variant);
  const wanted = rendering.method === 'browser' ? rendering.origin : 'http';
  const nameOf = (page: string): string => `page\n${wanted}\n${page}`;
  const timeoutMs = options.timeout_seconds * 1000;
  const ttlMs = options.cache_ttl_days * DAY_MS;
  /** What redirects led to is kept under its own address, as on the disk, unless another replica loads it just now. */
  const shareReached = async (finalUrl: string, entry: NewCacheEntry): Promise<void> => {
    // What a credential showed has another address.
    if (entry.canonical_url !== pageAddress(finalUrl, variant)) return;
    const terms = {signal, waitMs: 0, above: Number.MAX_SAFE_INTEGER, anew: noCache};
    const obtained = await bodies.obtain(nameOf(entry.canonical_url), terms);
    if (obtained.kind !== 'turn') return;
    await obtained.turn.put(printSharedEntry(entry), ttlMs);
    await obtained.turn.end();
  };
  return loadOnce(
    {
      name: nameOf(address),
      noCache,
      // As long as the one who loads it may take: robots.txt, the host's turn, and the page.
      waitMs: 3 * timeoutMs,
      signal,
      accept: async bytes => {
        const entry = readSharedEntry(bytes, {address, ttlDays: options.cache_ttl_days, now: clock.now()});
        if (!entry) return undefined;
        const read: DiskCache['read'] = async (url, method) =>
          url === entry.canonical_url && method === entry.rendering_method ? entry : undefined;
        const page = await findCached(start, rendering, {mayReach, reading}, {...deps, cache: {read}});
        if (!page) return undefined;
        // Another replica may have other rules. Ours hold for what is shown here.
        const budget = new Budget(timeoutMs, clock, signal);
        try {
          const navigation = new Navigation(deps, rendering.method, reach);
          if (!(await navigation.mayTake(start, budget)).ok) return 'refused';
        } finally {
          budget.close();
        }
        const {expires_at: _, last_accessed_at: __, ...kept} = entry;
        await cache.write(kept);
        return page;
      },
      load: async turn => {
        let reached: NewCacheEntry | undefined;
        const write: DiskCache['write'] = async entry => {
          const stored = await cache.write(entry);
          if (turn === undefined) return stored;
          if (entry.canonical_url !== address) {
            reached = entry;
            return stored;
          }
          const shared = await turn.put(printSharedEntry(entry), ttlMs);
          return stored && shared;
        };
        const shared = turn === undefined ? deps : {...deps, cache: {...cache, write}};
        const page = await loadPage(start, request, shared, reach, signal);
        if (page.ok && reached !== undefined) await shareReached(page.value.finalUrl, reached);
        return page;
      },
    },
    bodies,
  );
}
