// Says whether a page is fetched by HTTP or rendered in the browser.

import type {WebFetchOptions} from './options.ts';
import type {RenderingMethod, WebUrl} from './page.ts';
import {parseUrl} from './url.ts';

export type Rendering =
  | {readonly method: 'http'}
  | {readonly method: 'browser'; readonly origin: 'forced' | 'js_heavy'};

export type RenderingSettings = Pick<WebFetchOptions, 'rendering'>;

/** SRD B.3: the caller's word, then the configured hosts, then HTTP first. */
export function chooseRendering(url: WebUrl, forceBrowser: boolean, options: RenderingSettings): Rendering {
  if (forceBrowser) return {method: 'browser', origin: 'forced'};
  if (isJsHeavy(url.name, options.rendering.js_heavy_domains)) return {method: 'browser', origin: 'js_heavy'};
  return {method: 'http'};
}

/** Ruling C7: at a further hop. What goes on in the browser stays there. */
export function renderingAt(url: WebUrl, before: Rendering, options: RenderingSettings): Rendering {
  return before.method === 'browser' ? before : chooseRendering(url, false, options);
}

/** FR-WF-RENDER-JS-01: `.example.com` is the subdomains, `example.com` that host and no other. */
export function isJsHeavy(name: string, domains: readonly string[]): boolean {
  return domains.some(entry => {
    const suffix = entry.startsWith('.');
    const host = normalizeHost(suffix ? entry.slice(1) : entry);
    if (host === undefined) return false;
    return suffix ? name.endsWith(`.${host}`) && name.length > host.length + 1 : name === host;
  });
}

/** Appendix A's host rules (FR-WF-NORM-02, FR-WF-NORM-07), without a trailing dot (ruling A4). */
function normalizeHost(host: string): string | undefined {
  const url = URL.parse(`http://${host.trim()}/`);
  return url?.hostname.replace(/\.$/, '').replace(/^\[(.*)\]$/, '$1');
}

/** How a fetch begins, for the question to the approver and for the log (SRD B.3): before anything is known of the page. */
export function expectedRendering(
  {url, force_browser}: {readonly url: string; readonly force_browser: boolean},
  options: WebFetchOptions,
): RenderingMethod {
  const parsed = parseUrl(url);
  if (!parsed.ok) return force_browser ? 'browser' : 'http';
  return chooseRendering(parsed.value, force_browser, options).method;
}

/** FR-WF-TIMEOUT-01: `page_load_buffer_s`, what a browser may take beside waiting for its page. */
export const PAGE_LOAD_BUFFER_MS = 5000;
