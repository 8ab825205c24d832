const DECLARATION = /^(?:\xef\xbb\xbf)?<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']/;

/** XML 1.0 §4.3.3: what the declaration says, where no header does. */
export function xmlCharset(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 256)).toString('latin1');
  return DECLARATION.exec(start)?.[1];
}
