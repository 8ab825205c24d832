import type {WebFetchOptions} from '../options.ts';
import type {WebUrl} from '../page.ts';

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
