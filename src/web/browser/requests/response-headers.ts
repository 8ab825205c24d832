import type {HeaderMap} from '../../page.ts';
import type {CdpHeader} from '../cdp/cdp-protocol.ts';

/**
 * Ruling G5, turned round: what a page and its scripts need is passed; what makes the browser store,
 * report, connect or fetch by itself is not, nor is what nobody has thought of yet.
 */
const PASSED = new Set([
  'age',
  'cache-control',
  'content-language',
  'content-security-policy',
  'content-type',
  'cross-origin-embedder-policy',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
  'date',
  'etag',
  'expires',
  'last-modified',
  'location',
  'permissions-policy',
  'referrer-policy',
  'refresh',
  'retry-after',
  'vary',
]);
const PASSED_PREFIX = /^(?:access-control-|x-(?!dns-prefetch))/;
const REPORTS = /^report-(?:uri|to)$/i;

/** The headers that `Fetch.fulfillRequest` is given. The body comes decoded, so its codings are gone. */
export function responseHeaders(headers: HeaderMap): readonly CdpHeader[] {
  const passed: CdpHeader[] = [];
  for (const [name, values] of headers) {
    if (!PASSED.has(name) && !PASSED_PREFIX.test(name)) continue;
    for (const raw of values) {
      const value = name === 'content-security-policy' ? withoutReports(raw) : raw;
      passed.push({name, value: asciiOnly(value)});
    }
  }
  return passed;
}

/** A comma separates policies, a semicolon their directives. */
function withoutReports(value: string): string {
  return value
    .split(',')
    .map(policy =>
      policy
        .split(';')
        .filter(directive => !REPORTS.test(directive.trim().split(/\s/, 1)[0] ?? ''))
        .join(';'),
    )
    .join(',');
}

/** Bytes above ASCII percent-encoded, as browsers read them in a `Location`. */
function asciiOnly(value: string): string {
  return value.replace(/[^\x20-\x7e]/g, byte => `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);
}
