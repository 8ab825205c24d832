import type {Budget} from '../../core/budget.ts';
import {ok, type Result} from '../../core/result.ts';
import type {CheckedUrl, HttpResponse, WebUrl} from '../page.ts';
import type {Navigation} from './navigation.ts';

export interface FinalResponse {
  readonly url: WebUrl;
  readonly response: HttpResponse;
  /** Every hop was a 301 or 308 (ruling F2). */
  readonly permanent: boolean;
}

/** FR-WF-07: opens the first address and each one it leads to, until one has an answer of its own. */
export async function followRedirects(
  start: CheckedUrl,
  navigation: Navigation,
  budget: Budget,
): Promise<Result<FinalResponse>> {
  let current = start;
  let permanent = true;
  for (;;) {
    const {url} = current;
    const hop = await navigation.takeHop(current, budget);
    if (!hop.ok) return hop;
    if (hop.value.kind === 'response') return ok({url, response: hop.value.response, permanent});
    permanent &&= hop.value.permanent;
    const next = navigation.goOn(url, hop.value.target);
    if (!next.ok) return next;
    current = next.value;
  }
}
