import type {WebFetchOptions} from '../../web/options.ts';
import {expectedRendering} from '../../web/render/expected-rendering.ts';
import {redactUrl} from '../../web/url/redact-url.ts';

/**
 * NFR-WF-OP-03: scheme, host, path and mode of a fetch; never the query string. The mode is the one that the
 * fetch begins in, so a host of `js_heavy_domains` says browser.
 */
export function summarizeFetch(
  tool: string,
  url: string,
  forceBrowser: boolean,
  options: WebFetchOptions,
): string {
  const mode = expectedRendering({url, force_browser: forceBrowser}, options);
  return `${tool} ${redactUrl(url)} (${mode} mode)`;
}
