import type {Budget} from '../../core/budget.ts';
import type {Clock} from '../../core/clock.ts';
import {ok, type Result} from '../../core/result.ts';
import type {WebFetchOptions} from '../options.ts';
import type {CheckedUrl, FetchedDocument} from '../page.ts';
import {followRedirects} from './follow-redirects.ts';
import type {Navigation} from './navigation.ts';
import {readDocument} from './read-document.ts';

export interface FetchDocumentDeps {
  readonly options: Pick<WebFetchOptions, 'http' | 'max_download_bytes'>;
  readonly clock: Clock;
}

/** SRD 3.4.1: every hop, then status, content type and body, under one budget. */
export async function fetchDocument(
  start: CheckedUrl,
  navigation: Navigation,
  {options, clock}: FetchDocumentDeps,
  budget: Budget,
): Promise<Result<FetchedDocument>> {
  const final = await followRedirects(start, navigation, budget);
  if (!final.ok) return final;
  const {url, response, permanent} = final.value;
  const raw = await readDocument(response, options);
  if (!raw.ok) return raw;
  return ok({url, headers: response.headers, raw: raw.value, fetchedAt: clock.now(), permanent});
}
