import type {SingleFlight} from '../core/async/single-flight.ts';
import type {Clock} from '../core/clock.ts';
import type {Log} from '../core/log.ts';
import type {Result} from '../core/result.ts';
import type {Browser} from './browser/browser.ts';
import type {DiskCache} from './cache/disk-cache.ts';
import type {PermanentRedirects} from './cache/permanent-redirects.ts';
import type {WorkerPool} from './convert/worker-pool.ts';
import type {Guard} from './guard/create-guard.ts';
import type {GuardPolicy} from './guard/guard-policy.ts';
import type {HostCall} from './navigate/host-call.ts';
import type {HostReach} from './navigate/host-reach.ts';
import type {WebFetchOptions} from './options.ts';
import type {HttpTransport, LoadedPage} from './page.ts';
import type {RobotsAccess} from './robots/robots-access.ts';

/** Everything one `web_fetch` pipeline is made of; the composition root puts it together once. */
export interface FetchDeps {
  readonly options: WebFetchOptions;
  readonly policy: GuardPolicy;
  readonly guard: Guard;
  readonly robots: RobotsAccess<HostCall>;
  readonly transport: HttpTransport;
  readonly browser: Browser;
  readonly workers: WorkerPool;
  readonly cache: DiskCache;
  readonly redirects: PermanentRedirects;
  /** Ruling F8: identical fetches at the same time are one fetch. */
  readonly sharedFetches: SingleFlight<{readonly reach: HostReach; readonly page: Result<LoadedPage>}>;
  /** FR-WF-10b */
  readonly headers: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly log: Log;
}
