// Plans a call on an address: what rules match, and what the user is shown.
import {ok, type Result} from '../../core/result.ts';
import {toUrl} from '../../core/text/parse.ts';
import type {Intent} from '../../core/tool.ts';
import {checkUrl} from '../../web/guard/check-url.ts';
import {withWayToOpen} from '../../web/guard/guard.ts';
import {readGuardPolicy} from '../../web/guard/policy.ts';
import {credentialOrigin, sourceOf} from '../../web/navigate/credentials.ts';
import type {WebFetchOptions} from '../../web/options.ts';
import {expectedRendering} from '../../web/rendering.ts';
import {parseUrl, redactUrl} from '../../web/url.ts';

/**
 * What a person is asked about: scheme, host, path and mode; never the query string. Fails where the guard refuses the
 * address whatever its name resolves to: nobody is asked about a call that cannot be made. The failure says how to open
 * the address in `configFile`. (NFR-WF-OP-03)
 */
export function addressIntent(
  tool: string,
  url: string,
  forceBrowser: boolean,
  options: WebFetchOptions,
  configFile: string | undefined,
): Result<Intent> {
  const refused = refusal(url, options, configFile);
  if (!refused.ok) return refused;
  return ok(describedAddress(tool, url, forceBrowser, options));
}

/** The same, whatever the guard says. */
export function describedAddress(
  tool: string,
  url: string,
  forceBrowser: boolean,
  options: WebFetchOptions,
): Intent {
  return {
    subject: {kind: 'url', values: [url.trim()]},
    summary: summarizeFetch(tool, url, forceBrowser, options),
    preview: previewAddress(url, options),
    fileHashes: {},
  };
}

/** The checks of the fetch that need no resolver. */
function refusal(
  written: string,
  {security, allow_private}: WebFetchOptions,
  configFile: string | undefined,
): Result<unknown> {
  const guard = readGuardPolicy(security, allow_private);
  const url = parseUrl(written);
  if (!guard.ok || !url.ok) return url;
  const {policy} = guard.value;
  const checked = checkUrl(url.value, policy, true);
  return checked.ok
    ? checked
    : {ok: false, error: withWayToOpen(checked.error, url.value, policy, configFile)};
}

/**
 * What the approver has to see of an address before it is fetched: scheme, host as it is resolved (punycode), path,
 * and how much is said in a query, whose text never leaves the call (FR-WF-19b).
 */
export function previewAddress(url: string, options: Pick<WebFetchOptions, 'credentials'>): string {
  const written = url.trim();
  const address = /^https?:/i.test(written) ? toUrl(written) : undefined;
  if (address === undefined) return redactUrl(written);
  const {protocol, host, pathname, search, origin} = address;
  const credential = options.credentials.find(entry => credentialOrigin(entry) === origin);
  return [
    `scheme: ${protocol.slice(0, -1)}`,
    `host:   ${host}`,
    `path:   ${pathname}`,
    ...(credential === undefined ? [] : [`sends:  ${credential.header} from ${sourceOf(credential)}`]),
    ...(search === '' ? [] : [`query:  ${search.length - 1} characters, not shown here`]),
  ].join('\n');
}

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
