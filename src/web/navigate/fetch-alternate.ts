import type {Budget} from '../../core/budget.ts';
import {fail} from '../../core/failure/fail.ts';
import {ok, type Result} from '../../core/result.ts';
import type {FetchedDocument, WebUrl} from '../page.ts';
import {resolveUrl} from '../url/resolve-url.ts';
import type {FetchDocumentDeps} from './fetch-document.ts';
import {followRedirects} from './follow-redirects.ts';
import type {Navigation} from './navigation.ts';
import {readDocument} from './read-document.ts';

/**
 * Ruling R3: the version of a page in Markdown that the page itself names: one more step of the navigation, at the
 * page's own origin. Whoever calls it reads the page where this fails.
 */
export async function fetchAlternate(
  reference: string,
  page: WebUrl,
  navigation: Navigation,
  {terms, clock}: FetchDocumentDeps,
  budget: Budget,
): Promise<Result<FetchedDocument>> {
  const notThere = fail('network', `"${page.host}" names a version in Markdown that is not one of its own.`, {
    error: 'no_alternate',
  });
  const url = resolveUrl(reference, page);
  if (!url.ok) return url;
  if (url.value.origin !== page.origin || url.value.canonical === page.canonical) return notThere;
  const start = navigation.goOn(page, () => url);
  if (!start.ok) return start;
  const final = await followRedirects(start.value, navigation, budget);
  if (!final.ok) return final;
  const {url: reached, response, permanent} = final.value;
  const raw = await readDocument(response, {...terms, accepts: new Set(['markdown'])});
  if (!raw.ok) return raw;
  if (raw.value.media === 'html' || reached.origin !== page.origin) return notThere;
  const {headers} = response;
  // Many servers know no other type for a file than plain text.
  const markdown = {...raw.value, media: 'markdown'} as const;
  return ok({url: reached, headers, raw: markdown, fetchedAt: clock.now(), permanent});
}
