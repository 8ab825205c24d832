const NOT_ASCII = /[^\0-\x7f]/;
const EACH_NOT_ASCII = /[^\0-\x7f]+/g;

/**
 * The address that a text is, `undefined` for none. Not `URL.canParse` by itself: once Node 20 and 22 have optimised
 * its caller, an address whose host has letters such as é is none to it, and a check that asks it is passed by.
 */
export function toUrl(text: string, base?: string): URL | undefined {
  return canParse(text, base) ? new URL(text, base) : undefined;
}

/** Asked without an exception: a page may have a hundred thousand links that are none. */
function canParse(text: string, base: string | undefined): boolean {
  return base === undefined ? URL.canParse(inAscii(text)) : URL.canParse(inAscii(text), inAscii(base));
}

/** Percent-encoded, which the URL standard reads as the same host, path and query. */
function inAscii(text: string): string {
  return NOT_ASCII.test(text) ? text.toWellFormed().replace(EACH_NOT_ASCII, encodeURIComponent) : text;
}
