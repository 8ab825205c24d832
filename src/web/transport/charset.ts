// Decodes bytes by the charset that is declared or found.

import {getBOMEncoding, legacyHookDecode, normalizeEncoding} from '@exodus/bytes/encoding.js';

export interface DecodeOptions {
  readonly headerCharset?: string;
  /** Whether `<meta>` may declare the charset. */
  readonly html: boolean;
}

interface DecodedText {
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

/** FR-WF-CHARSET-01: labels are looked up by WHATWG "get an encoding"; blanks around them and their case do not matter. */
function declaredCharset(bytes: Uint8Array, {headerCharset, html}: DecodeOptions): DeclaredCharset {
  if (headerCharset !== undefined && headerCharset.trim() !== '') {
    const encoding = normalizeEncoding(headerCharset) ?? undefined;
    return {encoding, unknown: encoding === undefined};
  }
  return html ? prescanCharset(bytes) : {encoding: undefined, unknown: false};
}

/** Ruling C4 */
const PRESCANNED_BYTES = 1024;

interface DeclaredCharset {
  /** The name of WHATWG Encoding in lower case, such as `shift_jis`. */
  readonly encoding: string | undefined;
  /** Something was declared, but nothing that is known. */
  readonly unknown: boolean;
}

/**
 * WHATWG HTML §13.2.3.2 "prescan a byte stream to determine its encoding", on the first 1,024
 * bytes: `<meta charset>`, `<meta http-equiv=content-type>`, and last the XML declaration.
 */
export function prescanCharset(html: Uint8Array): DeclaredCharset {
  const head = Buffer.from(html.buffer, html.byteOffset, Math.min(html.length, PRESCANNED_BYTES));
  const prescan = new Prescan(head.toString('latin1'));
  const encoding = prescan.run() ?? prescan.xmlEncoding();
  return {encoding, unknown: encoding === undefined && prescan.metUnknown};
}

interface Attribute {
  readonly name: string;
  readonly value: string;
}

class Prescan {
  metUnknown = false;
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  run(): string | undefined {
    if (this.#text.startsWith('<\0?\0x\0')) return 'utf-16le';
    if (this.#text.startsWith('\0<\0?\0x')) return 'utf-16be';
    // All that is of interest starts with `<`; past the end of the text nothing is found any more.
    for (; this.#seek('<', this.#at); this.#at += 1) {
      if (this.#looksAt(/<!--/y)) {
        // `<!-->` is a whole comment.
        if (!this.#seek('-->', this.#at + 2)) return undefined;
        this.#at += 2;
      } else if (this.#looksAt(/<meta[\t\n\f\r /]/iy)) {
        this.#at += 5;
        const encoding = this.#readMeta();
        if (encoding !== undefined) return encoding;
      } else if (this.#looksAt(/<\/?[a-z]/iy)) {
        this.#skipTo(/[\t\n\f\r >]/g);
        while (this.#readAttribute() !== undefined);
      } else if (this.#looksAt(/<[!/?]/y)) {
        this.#skipTo(/>/g);
      }
    }
    return undefined;
  }

  /** WHATWG HTML "get an XML encoding". */
  xmlEncoding(): string | undefined {
    const [declaration = ''] = /^<\?xml[^>]*>/.exec(this.#text) ?? [];
    const [, , label] = /encoding[\x00-\x20]*=[\x00-\x20]*(["'])([^\x00-\x20"']*)\1/.exec(declaration) ?? [];
    if (label === undefined) return undefined;
    const encoding = this.#known(label);
    return encoding === 'utf-16le' || encoding === 'utf-16be' ? 'utf-8' : encoding;
  }

  #readMeta(): string | undefined {
    const seen = new Set<string>();
    let gotPragma = false;
    let needsPragma: boolean | undefined;
    let encoding: string | undefined;
    for (;;) {
      const attribute = this.#readAttribute();
      if (attribute === undefined) break;
      const {name, value} = attribute;
      if (seen.has(name)) continue;
      seen.add(name);
      if (name === 'http-equiv') gotPragma ||= value === 'content-type';
      else if (name === 'charset') {
        encoding = this.#known(value);
        needsPragma = false;
      } else if (name === 'content' && encoding === undefined) {
        const label = labelInContent(value);
        encoding = label === undefined ? undefined : this.#known(label);
        if (encoding !== undefined) needsPragma = true;
      }
    }
    // A tag that the end of the text cuts off declares nothing.
    if (this.#at >= this.#text.length) return undefined;
    if (needsPragma === undefined || (needsPragma && !gotPragma)) return undefined;
    // What could be read so far was not UTF-16.
    if (encoding === 'utf-16le' || encoding === 'utf-16be') return 'utf-8';
    return encoding === 'x-user-defined' ? 'windows-1252' : encoding;
  }

  /** WHATWG HTML "get an attribute"; `undefined` at the end of the tag or of the text. */
  #readAttribute(): Attribute | undefined {
    const text = this.#text;
    this.#skipWhile(/[\t\n\f\r /]*/y);
    if (this.#at >= text.length || text[this.#at] === '>') return undefined;
    // A `=` may start a name, not end it there.
    const name = this.#skipWhile(/=?[^\t\n\f\r />=]*/y).toLowerCase();
    this.#skipWhile(/[\t\n\f\r ]*/y);
    if (text[this.#at] !== '=') return {name, value: ''};
    this.#at += 1;
    this.#skipWhile(/[\t\n\f\r ]*/y);
    const quote = text[this.#at];
    if (quote === '"' || quote === "'") {
      const start = this.#at + 1;
      const found = this.#seek(quote, start);
      const value = text.slice(start, this.#at).toLowerCase();
      if (found) this.#at += 1;
      return {name, value};
    }
    return {name, value: this.#skipWhile(/[^\t\n\f\r >]*/y).toLowerCase()};
  }

  #known(label: string): string | undefined {
    const encoding = normalizeEncoding(label) ?? undefined;
    if (encoding === undefined) this.metUnknown = true;
    return encoding;
  }

  #looksAt(sticky: RegExp): boolean {
    sticky.lastIndex = this.#at;
    return sticky.test(this.#text);
  }

  #skipWhile(sticky: RegExp): string {
    sticky.lastIndex = this.#at;
    const skipped = sticky.exec(this.#text)?.[0] ?? '';
    this.#at += skipped.length;
    return skipped;
  }

  #skipTo(global: RegExp): void {
    global.lastIndex = this.#at;
    this.#at = global.exec(this.#text)?.index ?? this.#text.length;
  }

  /** Moves to the next `mark`, or to the end of the text. */
  #seek(mark: string, from: number): boolean {
    const found = this.#text.indexOf(mark, from);
    this.#at = found === -1 ? this.#text.length : found;
    return found !== -1;
  }
}

/** WHATWG HTML "extracting a character encoding from a meta element". */
function labelInContent(content: string): string | undefined {
  const match =
    /charset[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)"|'([^']*)'|([^\t\n\f\r ;"'][^\t\n\f\r ;]*))/.exec(content);
  return match?.[1] ?? match?.[2] ?? match?.[3];
}
