import type {Budget} from '../../core/budget.ts';
import {fail} from '../../core/failure/fail.ts';
import {ok, type Result} from '../../core/result.ts';
import type {FetchedDocument, WebUrl} from '../page.ts';
import {resolveUrl} from '../url/resolve-url.ts';
import {type FetchDocumentDeps, fetchDocument} from './fetch-document.ts';
import type {Navigation} from './navigation.ts';

/**
 * Ruling R3: the version of a page in Markdown that the page itself names: one more step of the navigation, at the
 * page's own origin. Whoever calls it reads the page where this fails.
 */
export async function fetchAlternate(
  reference: string,
  page: WebUrl,
  navigation: Navigation,
  deps: FetchDocumentDeps,
  budget: Budget,
): Promise<Result<FetchedDocument>> {
  const url = resolveUrl(reference, page);
  if (!url.ok) return url;
  if (url.value.origin !== page.origin || url.value.canonical === page.canonical) return notThere(page);
  const start = navigation.goOn(page, () => url);
  if (!start.ok) return start;
  const terms = {...deps.terms, accepts: new Set(['markdown'] as const)};
  const fetched = await fetchDocument(start.value, navigation, {...deps, terms}, budget);
  if (!fetched.ok) return fetched;
  const {raw, url: reached} = fetched.value;
  if (raw.media === 'html' || reached.origin !== page.origin) return notThere(page);
  // Many servers know no other type for a file than plain text.
  return ok({...fetched.value, raw: {...raw, media: 'markdown'}});
}

function notThere(page: WebUrl) {
  return fail('network', `"${page.host}" names a version in Markdown that is not one of its own.`, {
    error: 'no_alternate',
  });
}
