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
