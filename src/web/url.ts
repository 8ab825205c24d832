// URLs: parsed, checked, canonical, resolved, and redacted for logs.

import {isUtf8} from 'node:buffer';
import {fail, ok, type Result} from '../core/result.ts';
import {takeStart} from '../core/text/cut.ts';
import {showInvisible} from '../core/text/invisible.ts';
import type {CanonicalUrl, WebUrl} from './page.ts';

/**
 * Appendix A of an http(s) URL: `{scheme}://{host}[:{port}]{path}[?{query}]`, without fragment.
 *
 * WHATWG has done NORM-02 to NORM-05 and NORM-07 while parsing (`%2e` counts as a dot in its path
 * segments, so decoding cannot bring a new dot segment). NORM-06 applies to path and query; the
 * query keeps its order, its blanks and an empty `?`.
 */
export function canonicalUrl(url: URL): string {
  const {href, origin} = url;
  const fragment = href.indexOf('#');
  const end = fragment === -1 ? href.length : fragment;
  // Not `href.slice(origin.length)`: userinfo, where there is any, stands before the host.
  const start = href.indexOf('/', href.indexOf('//') + 2);
  return origin + normalizePercentEncoding(href.slice(start, end));
}

// For one character.
const UNRESERVED = /[A-Za-z0-9._~-]/;
const HEX = /[0-9A-Fa-f]/;
const TRIPLET = /%[0-9A-Fa-f]{2}/y;

/**
 * FR-WF-NORM-06: triplets of unreserved characters are decoded, the others get upper-case digits.
 *
 * A digit that would complete a stray `%` (`%4%31`) stays encoded: decoded, it would be a triplet
 * that nobody wrote, and normalising twice would change the URL again.
 */
export function normalizePercentEncoding(text: string): string {
  const copies: string[] = [];
  let copied = 0;
  /** The last two characters of the output. */
  let tail = '';
  const emit = (piece: string): void => {
    copies.push(piece);
    tail = (tail + piece).slice(-2);
  };
  for (let at = text.indexOf('%'); at !== -1; at = text.indexOf('%', at + 1)) {
    TRIPLET.lastIndex = at;
    const triplet = TRIPLET.exec(text)?.[0];
    if (triplet === undefined) continue;
    emit(text.slice(copied, at));
    const char = String.fromCharCode(Number.parseInt(triplet.slice(1), 16));
    const decodable = UNRESERVED.test(char) && !(HEX.test(char) && isStray(tail));
    emit(decodable ? char : triplet.toUpperCase());
    copied = at + 3;
  }
  return copies.join('') + text.slice(copied);
}

/** Whether a hexadecimal digit after this would make, or lead to, a triplet. */
function isStray(tail: string): boolean {
  return tail.endsWith('%') || (tail.startsWith('%') && HEX.test(tail));
}

/** Of a part of a URL that is named in a failure: a redirect brings whatever its server likes. */
const MOST_SHOWN = 100;

/**
 * SRD 3.2.1: the syntactic checks, in the order of ruling A1. What is used afterwards, everywhere,
 * is the one URL returned here. With a base, `input` may be a relative reference.
 *
 * Errors: `invalid_url`, `invalid_scheme`, `invalid_host`.
 */
export function parseUrl(input: string, base?: WebUrl): Result<WebUrl> {
  const parsed = parse(input, base);
  if (parsed === undefined) return refuseUnparsable(input);

  // FR-WF-04
  const scheme = parsed.protocol.slice(0, -1);
  if (scheme !== 'http' && scheme !== 'https') {
    const shown = scheme.slice(0, MOST_SHOWN);
    return fail('invalid_scheme', `The scheme "${shown}" cannot be fetched. Use an http or https URL.`, {
      scheme: shown,
    });
  }

  // FR-WF-URL-USERINFO-01: before the host is looked at, and empty userinfo too (ruling A2).
  const authority = rawAuthority(input, base?.scheme);
  if (authority?.includes('@') || parsed.username !== '' || parsed.password !== '') {
    const shown = redactUrl(input);
    return fail('invalid_url', `"${shown}" carries a user name or password. Pass the URL without them.`, {
      url: shown,
      reason: 'credentials',
    });
  }

  const {hostname} = parsed;
  const name = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
  if (name === '') return refuseUnparsable(input);

  // Ruling A3: WHATWG reads an IPv4 address out of many spellings; only its own is accepted.
  const isIpv4 = /^\d{1,3}(?:\.\d{1,3}){3}$/.test(hostname);
  if (isIpv4 && authority !== undefined) {
    const host = rawHost(authority);
    if (host !== hostname) {
      const shown = visible(host);
      return fail(
        'invalid_host',
        `The host "${shown}" is an odd spelling of ${hostname}. Write ${hostname}.`,
        {host: shown, canonical: hostname},
      );
    }
  }
  return ok(mint(parsed, scheme, name, isIpv4));
}

/** IDNA skips characters that nobody sees, as many as there are; in a message they could say anything. */
function visible(host: string): string {
  return showInvisible(takeStart(host, MOST_SHOWN));
}

function mint(parsed: URL, scheme: 'http' | 'https', name: string, isIpv4: boolean): WebUrl {
  const {hostname, origin} = parsed;
  const canonical = canonicalUrl(parsed);
  const pathAndQuery = canonical.slice(origin.length);
  const query = pathAndQuery.indexOf('?');
  const isIpv6 = hostname.startsWith('[');
  const address = isIpv6 ? hostname.slice(1, -1) : isIpv4 ? hostname : undefined;
  return {
    canonical: canonical as CanonicalUrl,
    scheme,
    host: hostname,
    name: address ?? name,
    address,
    // FR-WF-05f. A written port 0 stays 0, and no list of ports can allow it.
    port: parsed.port === '' ? (scheme === 'http' ? 80 : 443) : Number(parsed.port),
    origin,
    pathAndQuery,
    path: query === -1 ? pathAndQuery : pathAndQuery.slice(0, query),
  } as WebUrl;
}

function parse(input: string, base: WebUrl | undefined): URL | undefined {
  try {
    return new URL(input, base?.canonical);
  } catch {
    return undefined;
  }
}

function refuseUnparsable(input: string): Result<never> {
  const shown = redactUrl(input);
  // FR-WF-IPV6-ZONE-01: the parser refuses a zone like any other bad host; the reader wants to know why.
  if (/^[^?#[]*\[[0-9a-f:.]*%/i.test(input)) {
    return fail('invalid_url', `"${shown}" has an IPv6 zone. Pass the address without it.`, {
      url: shown,
      reason: 'ipv6_zone',
    });
  }
  return fail('invalid_url', `"${shown}" is not a valid URL. Pass an absolute http or https URL.`, {
    url: shown,
    reason: 'unparsable',
  });
}

/**
 * FR-WF-04b1, ruling A2: the authority as it was written, found by the steps of the WHATWG parser
 * but before percent-decoding and IDNA. `undefined` where a reference inherits that of its base.
 *
 * For input that WHATWG parses as http or https; `baseScheme` is given for a reference.
 */
export function rawAuthority(input: string, baseScheme?: 'http' | 'https'): string | undefined {
  const text = strip(input);
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(text)?.[0] ?? '';
  let at = scheme.length;
  while (isSlash(text[at])) at += 1;

  // A reference names a host only after two slashes, unless it changes the scheme.
  const sameScheme = scheme === '' || scheme.slice(0, -1).toLowerCase() === baseScheme;
  if (sameScheme && at - scheme.length < 2) return undefined;

  const rest = text.slice(at);
  const end = rest.search(/[/\\?#]/);
  return end === -1 ? rest : rest.slice(0, end);
}

/**
 * FR-WF-04b1: the host in a raw authority without userinfo, which parsed as an IPv4 address. So no
 * brackets either: what stands in them is an IPv6 address or no URL.
 */
export function rawHost(authority: string): string {
  const colon = authority.indexOf(':');
  return colon === -1 ? authority : authority.slice(0, colon);
}

/** What WHATWG drops before it reads: C0 controls and blanks outside, TAB and newlines everywhere. */
function strip(input: string): string {
  let start = 0;
  let end = input.length;
  // Past both ends there is NaN, which ends the loops.
  while (input.charCodeAt(start) <= 0x20) start += 1;
  while (input.charCodeAt(end - 1) <= 0x20) end -= 1;
  return input.slice(start, end).replace(/[\t\n\r]/g, '');
}

function isSlash(char: string | undefined): boolean {
  return char === '/' || char === '\\';
}

/**
 * FR-WF-07b: a `Location` header against the URL it came from. A host that the reference names is
 * checked as it was written there; a reference without one inherits a host that has been checked.
 */
export function resolveUrl(reference: string, base: WebUrl): Result<WebUrl> {
  const written = textOf(reference);
  return parseUrl(written, base);
}

/** A field value comes a byte a character. Browsers read the bytes of a `Location` as UTF-8 where they are that. */
function textOf(value: string): string {
  if (!/[\x80-\xff]/.test(value) || /[^\0-\xff]/.test(value)) return value;
  const bytes = Buffer.from(value, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : value;
}

/** Long enough for what a person looks for, short enough for a log line. */
const UNPARSABLE_SHOWN = 200;

/**
 * FR-WF-19b, ruling A2: scheme, host and path of a URL, for messages, details and logs. Never
 * fails: of text that is no URL nothing is shown that could be a query or credentials.
 */
export function redactUrl(url: string): string {
  const parsed = parseAny(url);
  if (parsed === undefined) return redactText(url);
  const {protocol, host, pathname, href} = parsed;
  // Without `//` the rest is opaque: the body of a `data:` URL, a script, an address, a password.
  if (!href.startsWith(`${protocol}//`)) return `${protocol}…`;
  return `${protocol}//${host}${pathname}`;
}

function parseAny(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}

/** Cut at the query, and to the scheme where an `@` or a colon without a port hints at credentials. */
function redactText(text: string): string {
  const visible = text.replace(/[\u0000-\u001f\u007f-\u009f]/g, '').trim();
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(visible)?.[0] ?? '';
  const cut = visible.search(/[?#]/);
  const shown = cut === -1 ? visible : visible.slice(0, cut);
  const afterScheme = shown.slice(scheme.length);
  // U+FF20 and U+FE6B are what IDNA maps to `@`.
  if (/@|%40|[\uff20\ufe6b]/i.test(visible) || /:(?!\d{0,5}(?:[/\\]|$))/.test(withoutIpv6(afterScheme))) {
    return `${scheme}…`;
  }
  return shown.length > UNPARSABLE_SHOWN ? `${shown.slice(0, UNPARSABLE_SHOWN)}…` : shown;
}

function withoutIpv6(text: string): string {
  return text.replace(/^[/\\]*\[[0-9a-z:.%]{0,100}\]/i, '');
}
