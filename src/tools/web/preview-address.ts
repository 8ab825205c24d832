import {redactUrl} from '../../web/url/redact-url.ts';

/**
 * What the approver has to see of an address before it is fetched: scheme, host as it is resolved (punycode), path,
 * and how much is said in a query, whose text never leaves the call (FR-WF-19b).
 */
export function previewAddress(url: string): string {
  const written = url.trim();
  if (!/^https?:/i.test(written) || !URL.canParse(written)) return redactUrl(written);
  const {protocol, host, pathname, search} = new URL(written);
  return [
    `scheme: ${protocol.slice(0, -1)}`,
    `host:   ${host}`,
    `path:   ${pathname}`,
    ...(search === '' ? [] : [`query:  ${search.length - 1} characters, not shown here`]),
  ].join('\n');
}
