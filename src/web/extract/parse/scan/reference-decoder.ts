import {SourceText} from '../../tree/source-text.ts';
import {CHARACTER_REFERENCES} from './character-references.data.ts';

/** Names longer than this there are none, with or without their semicolon. */
const MAX_NAME = 32;
/** The lengths of the names that need no semicolon. */
const MIN_LEGACY = 2;
const MAX_LEGACY = 6;

/** HTML 13.2.5.80: what the C1 controls stand for, Windows-1252; other C1 controls stand for themselves. */
const C1 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

/** Many documents have no others, and the table of all takes time to read. */
const COMMON: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['nbsp', '\xa0'],
]);

interface References {
  readonly all: ReadonlyMap<string, string>;
  /** Those that need no semicolon. */
  readonly legacy: ReadonlyMap<string, string>;
}

let references: References | undefined;

/** Decodes the character references of one source text (HTML 13.2.5.72). Asked from left to right, it is linear. */
export class ReferenceDecoder {
  readonly #source: SourceText;
  readonly #units: string;
  /** The first `&` at or after the last place asked for. */
  #ampersand = -1;

  constructor(source: string | SourceText) {
    this.#source = SourceText.of(source);
    this.#units = this.#source.units;
  }

  /** Whether what stands between two places may be other than what it means. */
  mayDecode(start: number, end: number): boolean {
    return this.#ampersandFrom(start) < end;
  }

  /** The text from `start` to `end`; in attribute values, fewer references count without their semicolon. */
  decode(start: number, end: number, inAttribute: boolean): string {
    let ampersand = this.#ampersandFrom(start);
    if (ampersand >= end) return this.#source.slice(start, end);
    let decoded = '';
    let copied = start;
    while (ampersand < end) {
      const reference = readReference(this.#units, ampersand + 1, end, inAttribute);
      if (reference !== undefined) {
        decoded += this.#source.slice(copied, ampersand) + reference.text;
        copied = reference.end;
      }
      ampersand = this.#ampersandFrom(Math.max(copied, ampersand + 1));
    }
    return decoded + this.#source.slice(copied, end);
  }

  #ampersandFrom(start: number): number {
    if (this.#ampersand < start) {
      const found = this.#units.indexOf('&', start);
      this.#ampersand = found === -1 ? Number.POSITIVE_INFINITY : found;
    }
    return this.#ampersand;
  }
}

interface Reference {
  readonly text: string;
  readonly end: number;
}

/** `start` is behind the `&`. */
function readReference(
  source: string,
  start: number,
  end: number,
  inAttribute: boolean,
): Reference | undefined {
  if (start < end && source.charCodeAt(start) === 0x23) return readNumber(source, start + 1, end);
  const limit = Math.min(end, start + MAX_NAME);
  let nameEnd = start;
  while (nameEnd < limit && isAlphanumeric(source.charCodeAt(nameEnd))) nameEnd++;
  if (nameEnd - start < MIN_LEGACY) return undefined;
  const isClosed = nameEnd < end && source.charCodeAt(nameEnd) === 0x3b;
  const common = isClosed ? COMMON.get(source.slice(start, nameEnd)) : undefined;
  if (common !== undefined) return {text: common, end: nameEnd + 1};
  references ??= readTable();
  if (isClosed) {
    const text = references.all.get(source.slice(start, nameEnd));
    if (text !== undefined) return {text, end: nameEnd + 1};
  }
  for (let length = Math.min(nameEnd - start, MAX_LEGACY); length >= MIN_LEGACY; length--) {
    const text = references.legacy.get(source.slice(start, start + length));
    if (text !== undefined) {
      // `?a=b&copy=c` and `&copyright` in an attribute are what they look like.
      const next = start + length < end ? source.charCodeAt(start + length) : 0;
      return inAttribute && (next === 0x3d || isAlphanumeric(next)) ? undefined : {text, end: start + length};
    }
  }
  return undefined;
}

/** `start` is behind the `&#`. */
function readNumber(source: string, start: number, end: number): Reference | undefined {
  const isHex = start < end && (source.charCodeAt(start) | 0x20) === 0x78;
  const digits = isHex ? start + 1 : start;
  const base = isHex ? 16 : 10;
  let codePoint = 0;
  let at = digits;
  for (; at < end; at++) {
    const digit = digitOf(source.charCodeAt(at));
    if (digit >= base) break;
    codePoint = Math.min(codePoint * base + digit, 0x11_0000);
  }
  if (at === digits) return undefined;
  const next = at < end && source.charCodeAt(at) === 0x3b ? at + 1 : at;
  return {text: characterOf(codePoint), end: next};
}

function digitOf(unit: number): number {
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30;
  const lower = unit | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : 16;
}

function characterOf(codePoint: number): string {
  const isSurrogate = codePoint >= 0xd800 && codePoint <= 0xdfff;
  if (codePoint === 0 || codePoint > 0x10_ffff || isSurrogate) return '\ufffd';
  return codePoint >= 0x80 && codePoint <= 0x9f
    ? C1.charAt(codePoint - 0x80)
    : String.fromCodePoint(codePoint);
}

function isAlphanumeric(unit: number): boolean {
  const lower = unit | 0x20;
  return (lower >= 0x61 && lower <= 0x7a) || (unit >= 0x30 && unit <= 0x39);
}

function readTable(): References {
  const all = new Map<string, string>();
  const legacy = new Map<string, string>();
  for (const entry of CHARACTER_REFERENCES.split(',')) {
    const [mark = '', points = ''] = entry.split(' ');
    const text = String.fromCodePoint(...points.split('+').map(point => Number.parseInt(point, 36)));
    const name = mark.replace('!', '');
    all.set(name, text);
    if (name !== mark) legacy.set(name, text);
  }
  return {all, legacy};
}
