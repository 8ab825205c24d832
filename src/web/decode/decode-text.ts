import {isUtf8} from 'node:buffer';
import {getBOMEncoding, legacyHookDecode, normalizeEncoding} from '@exodus/bytes/encoding.js';
import {type DeclaredCharset, prescanCharset} from './prescan-charset.ts';

const PART_BYTES = 32_768;

export interface DecodeOptions {
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

/**
 * What `decodeText` gives but for the text, where the bytes are those of the text in UTF-8: with nothing before it, and
 * nothing in it that is no character. `length` is that of the text.
 */
export function measureUtf8(
  bytes: Uint8Array,
  options: DecodeOptions,
): {readonly length: number; readonly fallback: boolean} | undefined {
  if (getBOMEncoding(bytes) !== null) return undefined;
  const {encoding = 'utf-8', unknown} = declaredCharset(bytes, options);
  if (encoding !== 'utf-8' || !isUtf8(bytes)) return undefined;
  return {length: lengthOfUtf8(bytes), fallback: unknown};
}

function lengthOfUtf8(bytes: Uint8Array): number {
  let length = 0;
  for (const part of utf8Parts(bytes)) length += part.length;
  return length;
}

/** The text of valid UTF-8 in order, in parts, so that it is never in memory as a whole. No character is cut. */
export function* utf8Parts(bytes: Uint8Array): Generator<string> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let from = 0; from < bytes.length; ) {
    let to = Math.min(from + PART_BYTES, bytes.length);
    while (to < bytes.length && ((bytes[to] as number) & 0xc0) === 0x80) to--;
    yield buffer.toString('utf8', from, to);
    from = to;
  }
}

/** FR-WF-CHARSET-01: labels are looked up by WHATWG "get an encoding"; blanks around them and their case do not matter. */
function declaredCharset(bytes: Uint8Array, {headerCharset, html}: DecodeOptions): DeclaredCharset {
  if (headerCharset !== undefined && headerCharset.trim() !== '') {
    const encoding = normalizeEncoding(headerCharset) ?? undefined;
    return {encoding, unknown: encoding === undefined};
  }
  return html ? prescanCharset(bytes) : {encoding: undefined, unknown: false};
}
