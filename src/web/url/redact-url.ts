/** Long enough for what a person looks for, short enough for a log line. */
const UNPARSABLE_SHOWN = 200;

/**
 * FR-WF-19b, ruling A2: scheme, host and path of a URL, for messages, details and logs. Never
 * fails: of text that is no URL nothing is shown that could be a query or credentials.
 */
export function redactUrl(url: string): string {
  const parsed = parse(url);
  if (parsed === undefined) return redactText(url);
  const {protocol, host, pathname, href} = parsed;
  // Without `//` the rest is opaque: the body of a `data:` URL, a script, an address, a password.
  if (!href.startsWith(`${protocol}//`)) return `${protocol}…`;
  return `${protocol}//${host}${pathname}`;
}

function parse(url: string): URL | undefined {
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
