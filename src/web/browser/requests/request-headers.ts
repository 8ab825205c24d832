/** Ours, the transport's, or about the browser: never taken over from a page's request (FR-WF-07d). */
const NOT_PASSED = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'cookie',
  'cookie2',
  'dnt',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'upgrade-insecure-requests',
  'user-agent',
  'via',
]);
const NOT_PASSED_PREFIX = /^(?:proxy-|sec-)/;
const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const MAX_VALUE = 8192;

/**
 * What of a page's request headers goes to the server. Those that a page may not send elsewhere
 * were already held back: Chromium asks first, by an OPTIONS request, and that is not let out.
 */
export function requestHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const passed: Record<string, string> = {};
  for (const [field, value] of Object.entries(headers)) {
    const name = field.toLowerCase();
    if (NOT_PASSED.has(name) || NOT_PASSED_PREFIX.test(name)) continue;
    if (!NAME.test(name) || value.length > MAX_VALUE || !VALUE.test(value)) continue;
    passed[name] = value;
  }
  return passed;
}
