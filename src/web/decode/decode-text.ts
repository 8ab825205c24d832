import {decodeDoubleByte} from './decode-double-byte.ts';
import {decodeIso2022Jp} from './decode-iso-2022-jp.ts';
import {decodeSingleByte} from './decode-single-byte.ts';
import {type Encoding, encodingOfLabel} from './encoding-labels.ts';
import {prescanCharset} from './prescan-charset.ts';

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
  const bom = encodingOfBom(bytes);
  if (bom !== undefined) {
    return {text: decode(bytes.subarray(bom === 'utf-8' ? 3 : 2), bom), fallback: false};
  }
  const {encoding, unknown} = declaredCharset(bytes, options);
  // WHATWG maps what is unsafe to guess at to "replacement", which decodes to a single U+FFFD.
  return {text: decode(bytes, encoding ?? 'utf-8'), fallback: unknown || encoding === 'replacement'};
}

function declaredCharset(bytes: Uint8Array, {headerCharset, html}: DecodeOptions) {
  if (headerCharset !== undefined && headerCharset.trim() !== '') {
    const encoding = encodingOfLabel(headerCharset);
    return {encoding, unknown: encoding === undefined};
  }
  return html ? prescanCharset(bytes) : {encoding: undefined, unknown: false};
}

function encodingOfBom([first, second, third]: Uint8Array): Encoding | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return first === 0xff && second === 0xfe ? 'utf-16le' : undefined;
}

/** BOMs were dealt with: a second one is text. */
function decode(bytes: Uint8Array, encoding: Encoding): string {
  switch (encoding) {
    case 'replacement':
      return bytes.length === 0 ? '' : '\ufffd';
    // WHATWG Encoding §10.1.1: one decoder for both, which ICU's table of GBK falls short of.
    case 'gbk':
      return new TextDecoder('gb18030', {ignoreBOM: true}).decode(bytes);
    case 'big5':
    case 'euc-jp':
    case 'euc-kr':
    case 'shift_jis':
      return decodeDoubleByte(bytes, encoding);
    case 'iso-2022-jp':
      return decodeIso2022Jp(bytes);
    default:
      return decodeSingleByte(bytes, encoding) ?? new TextDecoder(encoding, {ignoreBOM: true}).decode(bytes);
  }
}
