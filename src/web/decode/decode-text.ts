import {isUtf8} from 'node:buffer';
import {getBOMEncoding, legacyHookDecode, normalizeEncoding} from '@exodus/bytes/encoding.js';
import {type DeclaredCharset, prescanCharset} from './prescan-charset.ts';

interface DecodeOptions {
  readonly headerCharset?: string;
  /** Whether `<meta>` may declare the charset. */
  readonly html: boolean;
}

export interface DecodedText {
  readonly text: string;
  /** The note `charset_fallback`: what was declared is unknown, or is not to be decoded. */
  readonly fallback: boolean;
}

/**
 * FR-WF-10i, FR-WF-CHARSET-02, ruling C4: BOM over header over `meta`, and else UTF-8. Never fails;
 * what is no character of the encoding becomes U+FFFD.
 */
export function decodeText(bytes: Uint8Array, options: DecodeOptions): DecodedText {
  if (getBOMEncoding(bytes) !== null) return {text: legacyHookDecode(bytes), fallback: false};
  const {encoding, unknown} = declaredCharset(bytes, options);
  // WHATWG maps what is unsafe to guess at to "replacement", which decodes to a single U+FFFD.
  return {
    text: legacyHookDecode(bytes, encoding ?? 'utf-8'),
    fallback: unknown || encoding === 'replacement',
  };
}

/** Whether the bytes are those of their text in UTF-8: nothing before it, and nothing in it that is no character. */
export function isTextInUtf8(bytes: Uint8Array, options: DecodeOptions): boolean {
  if (getBOMEncoding(bytes) !== null) return false;
  const {encoding = 'utf-8'} = declaredCharset(bytes, options);
  return encoding === 'utf-8' && isUtf8(bytes);
}

/** FR-WF-CHARSET-01: labels are looked up by WHATWG "get an encoding"; blanks around them and their case do not matter. */
function declaredCharset(bytes: Uint8Array, {headerCharset, html}: DecodeOptions): DeclaredCharset {
  if (headerCharset !== undefined && headerCharset.trim() !== '') {
    const encoding = normalizeEncoding(headerCharset) ?? undefined;
    return {encoding, unknown: encoding === undefined};
  }
  return html ? prescanCharset(bytes) : {encoding: undefined, unknown: false};
}
