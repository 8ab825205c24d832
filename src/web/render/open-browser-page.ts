import {fail} from '../../core/failure/fail.ts';
import {ok, type Result} from '../../core/result.ts';
import {type OpenPage, openPage} from '../browser/open-page.ts';
import type {RenderPorts} from '../browser/render-ports.ts';
import {readBlockedResources} from '../browser/requests/blocked-resources.ts';
import type {FetchDeps} from '../fetch-deps.ts';
import {checkUrl} from '../guard/check-url.ts';
import type {Navigation} from '../navigate/navigation.ts';
import {readDocument} from '../navigate/read-document.ts';
import type {CheckedUrl, WebUrl} from '../page.ts';
import {parseUrl} from '../url/parse-url.ts';
import {resolveUrl} from '../url/resolve-url.ts';
import {mainDocument} from './main-document.ts';

/** Starts the browser on its way to `url`. Errors: `browser_unavailable`, `bad_args`. */
export async function openBrowserPage(
  url: WebUrl,
  navigation: Navigation,
  deps: FetchDeps,
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
function renderPorts(navigation: Navigation, deps: FetchDeps): RenderPorts {
  const {options, policy, guard, transport, clock, log} = deps;

  function readAddress(address: string): Result<CheckedUrl> {
    const url = parseUrl(address);
    return url.ok ? checkUrl(url.value, policy) : url;
  }

  return {
    clock,
    log,
    openUrl: async (address, {method, headers}, budget) => {
      const checked = readAddress(address);
      if (!checked.ok) return checked;
      const {pins, reach} = navigation.hosts;
      const permitted = reach.permit(checked.value.url);
      if (!permitted.ok) return permitted;
      const target = await guard.authorize(checked.value, pins, budget);
      if (!target.ok) return target;
      // The page says what it accepts; who asks, and which codings are understood, is ours to say.
      const {Accept: _, ...own} = deps.headers;
      return transport.request(target.value, {method, headers: {...headers, ...own}}, budget);
    },
    navigate: async (address, budget) => {
      const url = parseUrl(address);
      if (!url.ok) return url;
      const counted = navigation.count(url.value);
      if (!counted.ok) return counted;
      const checked = checkUrl(url.value, policy);
      if (!checked.ok) return checked;
      const response = await navigation.open(checked.value, budget);
      if (!response.ok) return response;

      const location = navigation.location(response.value, url.value);
      if (location) {
        response.value.discard();
        if (!location.ok) return location;
        const next = resolveUrl(location.value, url.value);
        return next.ok ? ok({kind: 'redirect', location: next.value.canonical}) : next;
      }
      const raw = await readDocument(response.value, options);
      // Ruling G3: what a script sends the browser to fetch is refused, and the page stays.
      if (!raw.ok) return raw.error.code === 'unsupported_content_type' ? ok({kind: 'empty'}) : raw;
      if (raw.value.status === 204 || raw.value.status === 205) return ok({kind: 'empty'});
      const document = mainDocument(url.value, response.value.headers, raw.value);
      return ok({kind: 'document', document});
    },
  };
}
