/**
 * RFC 3986 unreserved and reserved characters, which stand for themselves, but for `*`, `$` and `'`.
 * `*` and `$` mean something in a rule, and the URL parser writes `'` as `%27` in a query: these three are
 * equal to their encoded forms.
 */
const ITSELF = /^[A-Za-z0-9\-._~:/?#[\]@!&()+,;=]*$/;
/** For one character, and for three. */
const UNRESERVED = /[A-Za-z0-9\-._~]/;
const TRIPLE = /%[0-9A-Fa-f]{2}/;
const KEPT = asciiTable(character => ITSELF.test(character));

/**
 * Ruling B4, RFC 9309 §2.2.2: path and query in the one spelling in which they are compared with rules.
 * Unreserved characters are decoded, hexadecimal digits are upper case, everything that is neither
 * reserved nor unreserved is encoded, and a `%` that starts no escape is `%25`. The result is ASCII, and
 * normalising it again changes nothing.
 */
export function normalizePath(path: string): string {
  if (ITSELF.test(path)) return path;
  let normal = '';
  let done = 0;
  for (let at = 0; at < path.length; ) {
    const code = path.charCodeAt(at);
    if (KEPT[code] === 1) {
      at += 1;
      continue;
    }
    normal += path.slice(done, at);
    const triple = path.slice(at, at + 3);
    if (TRIPLE.test(triple)) {
      normal += normalizeTriple(triple);
      at += 3;
    } else {
      const character = String.fromCodePoint(path.codePointAt(at) ?? 0);
      for (const byte of Buffer.from(character)) normal += `%${hex(byte)}`;
      at += character.length;
    }
    done = at;
  }
  return normal + path.slice(done);
}

function normalizeTriple(triple: string): string {
  const character = String.fromCharCode(Number.parseInt(triple.slice(1), 16));
  return UNRESERVED.test(character) ? character : triple.toUpperCase();
}

function hex(byte: number): string {
  return byte.toString(16).toUpperCase().padStart(2, '0');
}

function asciiTable(holds: (character: string) => boolean): Uint8Array {
  return Uint8Array.from({length: 0x80}, (_, code) => (holds(String.fromCharCode(code)) ? 1 : 0));
}
