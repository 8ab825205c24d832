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
