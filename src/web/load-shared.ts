import type {SingleFlight} from '../core/async/single-flight.ts';
import {fail} from '../core/failure/fail.ts';
import {randomHex} from '../core/random.ts';
import type {Result} from '../core/result.ts';
import type {Browser} from './browser/browser.ts';
import {type LoadPageDeps, loadPage} from './load-page.ts';
import {HostReach, type MayReach} from './navigate/host-reach.ts';
import type {CheckedUrl, LoadedPage, ReadingTerms} from './page.ts';
import {readingVariant} from './reading-variant.ts';
import type {Rendering} from './render/choose-rendering.ts';

/** What a load that is under way for one caller or several comes to, and where it was led. */
export interface SharedLoad {
  readonly reach: HostReach;
  readonly page: Result<LoadedPage>;
}

export type LoadSharedDeps = LoadPageDeps & {
  readonly sharedLoads: SingleFlight<SharedLoad>;
  readonly browser: Pick<Browser, 'settled'>;
};

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
      return {reach, page: await loadPage(start, request, deps, reach, signal)};
    });
    if (!shared) break;
    const {page, reach} = shared.value;
    if (reach.agreesWith(mayReach)) return page;
  }
  // Ruling G6: what the cancelled fetch had of a browser is gone before the call returns.
  await deps.browser.settled();
  return fail('cancelled', 'The call was cancelled while the page was fetched.');
}
