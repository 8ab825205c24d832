/**
 * Bytes, one character (U+0000 to U+00FF) for each. Patches are about bytes, not characters: in this
 * form any content survives, lines are compared with `===`, and slicing does not copy.
 */
export type ByteString = string;

export function byteString(bytes: Uint8Array): ByteString {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

export function bytesOf(text: ByteString): Buffer {
  return Buffer.from(text, 'latin1');
}

/** For people and messages: what is not UTF-8 becomes U+FFFD. */
export function readable(text: ByteString): string {
  return bytesOf(text).toString('utf8');
}
