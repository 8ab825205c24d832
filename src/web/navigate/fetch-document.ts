import type {Budget} from '../../core/budget.ts';
import type {Clock} from '../../core/clock.ts';
import {ok, type Result} from '../../core/result.ts';
import type {CheckedUrl, FetchedDocument, KeptDocument} from '../page.ts';
import {type FinalResponse, followRedirects, type Recall} from './follow-redirects.ts';
import type {Navigation} from './navigation.ts';
import {type DocumentTerms, readDocument} from './read-document.ts';

export interface FetchDocumentDeps {
  readonly terms: DocumentTerms;
  readonly clock: Clock;
}

/** What a server said is still the document (RFC 9110 §15.4.5). */
export interface ConfirmedDocument<Kept> {
  readonly confirmed: Kept;
  /** Epoch milliseconds. */
  readonly confirmedAt: number;
}

/** SRD 3.4.1: every hop, then status, content type and body, under one budget. */
export async function fetchDocument(
  start: CheckedUrl,
  navigation: Navigation,
  deps: FetchDocumentDeps,
  budget: Budget,
): Promise<Result<FetchedDocument>> {
  const final = await followRedirects(start, navigation, budget);
  return final.ok ? readFinal(final.value, deps) : final;
}

/** The same, without downloading again what is kept and still holds. */
export async function refreshDocument<Kept extends KeptDocument>(
  start: CheckedUrl,
  navigation: Navigation,
  {recall, ...deps}: FetchDocumentDeps & {readonly recall: Recall<Kept>},
  budget: Budget,
): Promise<Result<FetchedDocument | ConfirmedDocument<Kept>>> {
  const final = await followRedirects(start, navigation, budget, recall);
  if (!final.ok) return final;
  const {response, confirmed} = final.value;
  if (!confirmed) return readFinal(final.value, deps);
  response.discard();
  return ok({confirmed, confirmedAt: deps.clock.now()});
}

async function readFinal(
  {url, response, permanent}: FinalResponse<KeptDocument>,
  {terms, clock}: FetchDocumentDeps,
): Promise<Result<FetchedDocument>> {
  const raw = await readDocument(response, terms);
  if (!raw.ok) return raw;
  return ok({url, headers: response.headers, raw: raw.value, fetchedAt: clock.now(), permanent});
}
