import type {Budget} from '../../core/budget.ts';
import {ok, type Result} from '../../core/result.ts';
import {checkUrl} from '../guard/check-url.ts';
import type {GuardPolicy} from '../guard/guard-policy.ts';
import type {CheckedUrl, HttpResponse, WebUrl} from '../page.ts';
import {resolveUrl} from '../url/resolve-url.ts';
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
  policy: GuardPolicy,
  budget: Budget,
): Promise<Result<FinalResponse>> {
  let current = start;
  let permanent = true;
  for (;;) {
    const {url} = current;
    const opened = await navigation.open(current, budget);
    if (!opened.ok) return opened;
    const response = opened.value;
    const location = navigation.location(response, url);
    if (location === undefined) return ok({url, response, permanent});

    response.discard();
    permanent &&= response.status === 301 || response.status === 308;
    if (!location.ok) return location;
    // Ruling A1: the limit is checked before the target is looked at.
    const counted = navigation.count(url);
    if (!counted.ok) return counted;
    const next = resolveUrl(location.value, url);
    if (!next.ok) return next;
    const checked = checkUrl(next.value, policy);
    if (!checked.ok) return checked;
    current = checked.value;
  }
}
