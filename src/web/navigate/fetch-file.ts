import {Budget} from '../../core/budget.ts';
import {ok, type Result} from '../../core/result.ts';
import {checkUrl} from '../guard/check-url.ts';
import {parseUrl} from '../url/parse-url.ts';
import {checkStatus} from './check-status.ts';
import {followRedirects} from './follow-redirects.ts';
import {HostReach} from './host-reach.ts';
import {Navigation, type NavigationDeps} from './navigation.ts';

export interface FetchedFile {
  /** Where its redirects led to. */
  readonly url: string;
  /** Decoded as its `Content-Encoding` says. */
  readonly bytes: Uint8Array;
}

/** A file as it is, such as a sitemap: every hop is checked and asked for as that of a page is. */
export async function fetchFile(
  requested: string,
  {maxBytes, signal}: {readonly maxBytes: number; readonly signal: AbortSignal},
  deps: NavigationDeps,
): Promise<Result<FetchedFile>> {
  const url = parseUrl(requested);
  if (!url.ok) return url;
  const start = checkUrl(url.value, deps.policy, true);
  if (!start.ok) return start;
  const budget = new Budget(deps.options.timeout_seconds * 1000, deps.clock, signal);
  try {
    const navigation = new Navigation(deps, 'http', new HostReach(url.value, undefined));
    const final = await followRedirects(start.value, navigation, budget);
    if (!final.ok) return final;
    const {response} = final.value;
    const status = checkStatus(response);
    if (!status.ok || status.value === 'empty') {
      response.discard();
      return status.ok ? ok({url: final.value.url.canonical, bytes: new Uint8Array()}) : status;
    }
    const body = await response.read(maxBytes);
    return body.ok ? ok({url: final.value.url.canonical, bytes: body.value}) : body;
  } finally {
    budget.close();
  }
}
