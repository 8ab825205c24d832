import {fail} from '../../core/failure/fail.ts';
import {ok, type Result} from '../../core/result.ts';
import {showInvisible} from '../../core/text/show-invisible.ts';
import {takeStart} from '../../core/text/take-start.ts';
import type {CanonicalUrl, WebUrl} from '../page.ts';
import {canonicalUrl} from './canonical-url.ts';
import {rawAuthority, rawHost} from './raw-authority.ts';
import {redactUrl} from './redact-url.ts';

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
