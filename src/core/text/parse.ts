// Reads addresses, Retry-After headers and text for JSON that is well formed.

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

/** RFC 9110 §10.2.3: seconds or an HTTP date, as milliseconds from `now`; `undefined` for what is neither. */
export function retryAfterMs(text: string, now: number): number | undefined {
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  // Date.parse would read much that is no HTTP date, and that without a zone as local time.
  const date = /^[A-Z][a-z]{2,8}, .+ GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** An escape of JSON. `JSON.stringify` writes surrogates as escapes where they stand alone, and only there. */
const ESCAPE = /\\(?:u(d[89a-f][0-9a-f]{2})|.)/g;
const LONE_SURROGATE = /\\ud[89a-f]/;

/**
 * The same value with U+FFFD for every half of a character. Python and Rust refuse JSON that has such halves,
 * so it leaves us without.
 */
export function wellFormedJson<Value>(value: Value): Value {
  const text = JSON.stringify(value);
  if (text === undefined || !LONE_SURROGATE.test(text)) return value;
  return JSON.parse(text.replace(ESCAPE, (whole, lone?: string) => (lone === undefined ? whole : '\ufffd')));
}
