import type {Clock} from '../../core/clock.ts';
import {fail} from '../../core/failure/fail.ts';
import type {Log} from '../../core/log.ts';
import {ok, type Result} from '../../core/result.ts';
import type {Browser} from '../browser/browser.ts';
import {type OpenPage, openPage} from '../browser/open-page.ts';
import type {RenderPorts} from '../browser/render-ports.ts';
import {readBlockedResources} from '../browser/requests/blocked-resources.ts';
import type {Navigation} from '../navigate/navigation.ts';
import {readDocument} from '../navigate/read-document.ts';
import type {WebFetchOptions} from '../options.ts';
import type {WebUrl} from '../page.ts';
import {parseUrl} from '../url/parse-url.ts';
import {mainDocument} from './main-document.ts';

/** What a script sends the browser to is shown as the browser would show it. */
const HTML_ONLY: ReadonlySet<never> = new Set();

export interface BrowserPageDeps {
  readonly options: Pick<WebFetchOptions, 'browser' | 'http' | 'max_download_bytes'>;
  readonly browser: Browser;
  readonly clock: Clock;
  readonly log: Log;
}

/** Starts the browser on its way to `url`. Errors: `browser_unavailable`, `bad_args`. */
export async function openBrowserPage(
  url: WebUrl,
  navigation: Navigation,
  deps: BrowserPageDeps,
  signal: AbortSignal,
): Promise<Result<OpenPage>> {
  const {options, browser} = deps;
  if (!options.browser.enabled) {
    return fail(
      'browser_unavailable',
      'tools.webfetch.browser.enabled is false. Call without force_browser, or have the operator enable it.',
      {chromium_path: options.browser.chromium_path, error: 'disabled'},
    );
  }
  const blocked = readBlockedResources(options.browser.block_resources);
  if (!blocked.ok) return blocked;
  const located = await browser.locate();
  if (!located.ok) return located;
  const settings = {
    options: options.browser,
    maxDownloadBytes: options.max_download_bytes,
    blocked: blocked.value,
  };
  return ok(openPage(browser, url.canonical, settings, renderPorts(navigation, deps), signal));
}

/** The two ways out of the browser. Each hop takes the path of a hop in HTTP mode. */
function renderPorts(navigation: Navigation, {options, clock, log}: BrowserPageDeps): RenderPorts {
  return {
    clock,
    log,
    openUrl: (address, request, budget) => navigation.openResource(address, request, budget),
    navigate: async (address, budget) => {
      const url = parseUrl(address);
      if (!url.ok) return url;
      const checked = navigation.goOn(url.value, () => url);
      if (!checked.ok) return checked;
      const hop = await navigation.takeHop(checked.value, budget);
      if (!hop.ok) return hop;
      if (hop.value.kind === 'redirect') {
        // Chromium follows it, and asks for its target.
        const next = hop.value.target();
        return next.ok ? ok({kind: 'redirect', location: next.value.canonical}) : next;
      }
      const {response} = hop.value;
      const raw = await readDocument(response, {maxBytes: options.max_download_bytes, accepts: HTML_ONLY});
      // Ruling G3: what a script sends the browser to fetch is refused, and the page stays.
      if (!raw.ok) return raw.error.code === 'unsupported_content_type' ? ok({kind: 'empty'}) : raw;
      if (raw.value.status === 204 || raw.value.status === 205) return ok({kind: 'empty'});
      return ok({kind: 'document', document: mainDocument(url.value, response.headers, raw.value)});
    },
  };
}
