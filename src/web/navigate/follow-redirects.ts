import type {Budget} from '../../core/budget.ts';
import {ok, type Result} from '../../core/result.ts';
import type {CheckedUrl, HttpResponse, KeptDocument, WebUrl} from '../page.ts';
import type {Navigation} from './navigation.ts';

export interface FinalResponse<Kept> {
  readonly url: WebUrl;
  readonly response: HttpResponse;
  /** Every hop was a 301 or 308 (ruling F2). */
  readonly permanent: boolean;
  /** What the response, a 304, says is still the document. */
  readonly confirmed: Kept | undefined;
}

/** The document that is kept of an address, if its server can be asked about it. */
export type Recall<Kept> = (url: WebUrl) => Promise<Kept | undefined>;

const NOT_MODIFIED = 304;

/**
 * FR-WF-07: opens the first address and each one it leads to, until one has an answer of its own. Where a document
 * of an address is kept, its server is asked whether that one still holds.
 */
export async function followRedirects<Kept extends KeptDocument>(
  start: CheckedUrl,
  navigation: Navigation,
  budget: Budget,
  recall?: Recall<Kept>,
): Promise<Result<FinalResponse<Kept>>> {
  let current = start;
  let permanent = true;
  let kept = await recall?.(start.url);
  for (;;) {
    const {url} = current;
    if (kept?.at) {
      const response = await confirmThere(kept.at, kept, navigation, budget);
      if (response) return ok({url, response, permanent, confirmed: kept});
      kept = undefined;
    }
    const hop = await navigation.takeHop(current, budget, kept?.conditions);
    if (!hop.ok) return hop;
    if (hop.value.kind === 'response') {
      const {response} = hop.value;
      const confirms = response.status === NOT_MODIFIED && kept !== undefined;
      if (confirms && !kept?.isConfirmedBy(response.headers)) {
        // The 304 is about another document than ours, so ours is not asked about again.
        response.discard();
        kept = undefined;
        continue;
      }
      return ok({url, response, permanent, confirmed: confirms ? kept : undefined});
    }
    permanent &&= hop.value.permanent;
    const next = navigation.goOn(url, hop.value.target);
    if (!next.ok) return next;
    current = next.value;
    kept = await recall?.(current.url);
  }
}

/** The 304 of another address of the same origin; whatever else it answers, the page itself is asked for. */
async function confirmThere(
  address: CheckedUrl,
  {conditions, isConfirmedBy}: KeptDocument,
  navigation: Navigation,
  budget: Budget,
): Promise<HttpResponse | undefined> {
  const hop = await navigation.takeHop(address, budget, conditions);
  if (!hop.ok || hop.value.kind === 'redirect') return undefined;
  const {response} = hop.value;
  if (response.status === NOT_MODIFIED && isConfirmedBy(response.headers)) return response;
  response.discard();
  return undefined;
}
