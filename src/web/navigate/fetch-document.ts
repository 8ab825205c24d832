import type {Budget} from '../../core/budget.ts';
import type {Clock} from '../../core/clock.ts';
import {ok, type Result} from '../../core/result.ts';
import type {CheckedUrl, FetchedDocument, KeptDocument} from '../page.ts';
import {followRedirects, type Recall} from './follow-redirects.ts';
import {linkedMarkdown} from './link-header.ts';
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

/**
 * SRD 3.4.1: every hop, then status, content type and body, under one budget. What `recall` knows of an address is not
 * downloaded again where its server says that it still holds.
 */
export async function fetchDocument<Kept extends KeptDocument>(
  start: CheckedUrl,
  navigation: Navigation,
  {recall, terms, clock}: FetchDocumentDeps & {readonly recall: Recall<Kept> | undefined},
  budget: Budget,
): Promise<Result<FetchedDocument | ConfirmedDocument<Kept>>> {
  const final = await followRedirects(start, navigation, budget, recall);
  if (!final.ok) return final;
  const {url, response, permanent, confirmed} = final.value;
  if (confirmed) {
    response.discard();
    return ok({confirmed, confirmedAt: clock.now()});
  }
  const raw = await readDocument(response, terms);
  if (!raw.ok) return raw;
  const {headers} = response;
  const alternateLink = linkedMarkdown(headers);
  return ok({url, headers, raw: raw.value, fetchedAt: clock.now(), permanent, alternateLink});
}
