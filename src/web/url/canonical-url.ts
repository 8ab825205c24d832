import {normalizePercentEncoding} from './normalize-percent-encoding.ts';

/**
 * Appendix A of an http(s) URL: `{scheme}://{host}[:{port}]{path}[?{query}]`, without fragment.
 *
 * WHATWG has done NORM-02 to NORM-05 and NORM-07 while parsing (`%2e` counts as a dot in its path
 * segments, so decoding cannot bring a new dot segment). NORM-06 applies to path and query; the
 * query keeps its order, its blanks and an empty `?`.
 */
export function canonicalUrl(url: URL): string {
  const {href, origin} = url;
  const fragment = href.indexOf('#');
  const end = fragment === -1 ? href.length : fragment;
  // Not `href.slice(origin.length)`: userinfo, where there is any, stands before the host.
  const start = href.indexOf('/', href.indexOf('//') + 2);
  return origin + normalizePercentEncoding(href.slice(start, end));
}
