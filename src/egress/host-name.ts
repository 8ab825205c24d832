const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
const MOST_CHARS = 253;

/**
 * A DNS name in lower case, `undefined` for everything else. An address in any spelling is none: what ends in a number
 * is an IPv4 address to somebody (WHATWG URL, "ends in a number"), and a colon or bracket makes an IPv6 address.
 */
export function hostName(text: string): string | undefined {
  const name = text.toLowerCase();
  if (name.length > MOST_CHARS || name.length === 0) return undefined;
  const labels = name.split('.');
  if (!labels.every(label => LABEL.test(label))) return undefined;
  return /^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '') ? undefined : name;
}

/** A port as it is written, without signs, blanks and leading zeros. */
export function portNumber(text: string): number | undefined {
  if (!/^[1-9]\d{0,4}$/.test(text)) return undefined;
  const port = Number(text);
  return port <= 65_535 ? port : undefined;
}
