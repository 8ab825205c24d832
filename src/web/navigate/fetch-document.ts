import type {Budget} from '../../core/budget.ts';
import {ok, type Result} from '../../core/result.ts';
import type {FetchDeps} from '../fetch-deps.ts';
import type {CheckedUrl, HeaderMap, WebUrl} from '../page.ts';
import {followRedirects} from './follow-redirects.ts';
import type {Navigation} from './navigation.ts';
import {type RawDocument, readDocument} from './read-document.ts';

/** A document as it came: where from, and undecoded. */
export interface FetchedDocument {
  readonly url: WebUrl;
  readonly headers: HeaderMap;
  readonly raw: RawDocument;
  /** Epoch milliseconds. */
  readonly fetchedAt: number;
  /** Ruling F2: reached by 301 and 308 only. */
  readonly permanent: boolean;
}

/** SRD 3.4.1: every hop, then status, content type and body, under one budget. */
export async function fetchDocument(
  start: CheckedUrl,
  navigation: Navigation,
  deps: FetchDeps,
  budget: Budget,
): Promise<Result<FetchedDocument>> {
  const finalResponse = await followRedirects(start, navigation, deps.policy, budget);
  if (!finalResponse.ok) return finalResponse;
  const {url, response, permanent} = finalResponse.value;
  const raw = await readDocument(response, deps.options);
  if (!raw.ok) return raw;
  return ok({url, headers: response.headers, raw: raw.value, fetchedAt: deps.clock.now(), permanent});
}
