import type {FrontierUrl} from '../../hub/frontier/frontier.ts';
import {linksOf} from '../../web/read/links-of.ts';
import {isSameSite} from '../../web/robots/is-same-site.ts';
import {parseUrl} from '../../web/url/parse-url.ts';

/** Of one page. */
const MOST_LINKS = 2000;

/**
 * Where a page leads to within its host, or its site. Its host is that of the address that was asked for: who redirects
 * to another host does not take the crawl along.
 */
export async function pageLinks(
  markdown: string,
  {url: from, host, depth}: FrontierUrl,
  sameSite: boolean,
): Promise<readonly FrontierUrl[]> {
  const found = new Map<string, FrontierUrl>();
  for (const link of linksOf(markdown, MOST_LINKS)) {
    const url = parseUrl(link);
    if (!url.ok || url.value.canonical === from) continue;
    const {canonical, name} = url.value;
    const within = name === host || (sameSite && (await isSameSite({name}, {name: host})));
    if (within) found.set(canonical, {url: canonical, host: name, depth: depth + 1});
  }
  return [...found.values()];
}
