import type {Budget} from '../../core/budget.ts';
import {ok, type Result} from '../../core/result.ts';
import type {FetchParts} from '../fetch-parts.ts';
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
  parts: FetchParts,
  budget: Budget,
): Promise<Result<FetchedDocument>> {
  const landing = await followRedirects(start, navigation, parts.policy, budget);
  if (!landing.ok) return landing;
  const {url, response, permanent} = landing.value;
  const raw = await readDocument(response, parts.options);
  if (!raw.ok) return raw;
  return ok({url, headers: response.headers, raw: raw.value, fetchedAt: parts.clock.now(), permanent});
}
