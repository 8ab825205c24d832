import {toUrl} from '../../core/text/to-url.ts';
import {credentialOrigin} from '../../web/credentials/credential-origin.ts';
import {sourceOf} from '../../web/credentials/read-credentials.ts';
import type {WebFetchOptions} from '../../web/options.ts';
import {redactUrl} from '../../web/url/redact-url.ts';

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
