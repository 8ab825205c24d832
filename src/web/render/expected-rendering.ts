import type {WebFetchOptions} from '../options.ts';
import type {RenderingMethod} from '../page.ts';
import {parseUrl} from '../url/parse-url.ts';
import {chooseRendering} from './choose-rendering.ts';

/** How a fetch begins, for the question to the approver and for the log (SRD B.3): before anything is known of the page. */
export function expectedRendering(
  {url, force_browser}: {readonly url: string; readonly force_browser: boolean},
  options: WebFetchOptions,
): RenderingMethod {
  const parsed = parseUrl(url);
  if (!parsed.ok) return force_browser ? 'browser' : 'http';
  return chooseRendering(parsed.value, force_browser, options).method;
}
