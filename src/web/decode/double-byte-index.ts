import {BIG5_HKSCS, BIG5_PAIRS} from './big5-hkscs.ts';

/** The encodings whose characters take one or two bytes (in EUC-JP also three). */
export type DoubleByteEncoding = 'big5' | 'euc-jp' | 'euc-kr' | 'shift_jis';

export interface DoubleByteIndex {
  /** Byte → code unit, for the bytes from 0x80; 0 where there is none. */
  readonly single: Uint16Array;
  /** `lead << 8 | trail` → code unit; 0 where there is none, or where `text` has it. */
  readonly double: Uint16Array;
  /** Astral characters and the pairs of Big5. */
  readonly text: ReadonlyMap<number, string>;
  /** After 0x8F in EUC-JP. */
  readonly triple: Uint16Array | undefined;
  readonly isLead: (byte: number) => boolean;
}

type Decoder = InstanceType<typeof TextDecoder>;

const REPLACEMENT = 0xfffd;
const indexes = new Map<DoubleByteEncoding, DoubleByteIndex>();

/**
 * The tables of WHATWG Encoding §5, built at first use from the runtime's converters and what those
 * lack: a third of index Big5 and most Hangul syllables.
 */
export function doubleByteIndex(encoding: DoubleByteEncoding): DoubleByteIndex {
  const index = indexes.get(encoding) ?? buildIndex(encoding);
  indexes.set(encoding, index);
  return index;
}

/** Index jis0208 by row and cell, both from 0x21 to 0x7E; 0 where it has nothing. */
export function jis0208(row: number, cell: number): number {
  return doubleByteIndex('euc-jp').double[((row | 0x80) << 8) | cell | 0x80] ?? 0;
}

function buildIndex(encoding: DoubleByteEncoding): DoubleByteIndex {
  const decoder = new TextDecoder(encoding);
  const single = new Uint16Array(256);
  const double = new Uint16Array(65_536);
  const text = new Map<number, string>();
  const put = (key: number, characters: string): void => {
    if (characters.length === 1) double[key] = characters.charCodeAt(0);
    else text.set(key, characters);
  };
  const isLead = LEADS[encoding];
  for (let lead = 0x81; lead <= 0xfe; lead += 1) {
    // 0x8E and 0x8F in EUC-JP open other tables, see below.
    if (!isLead(lead) || (encoding === 'euc-jp' && lead < 0xa1)) continue;
    for (let trail = 0x40; trail <= 0xfe; trail += 1) {
      const characters = decoder.decode(Uint8Array.of(lead, trail));
      if (isOneCharacter(characters, encoding)) put((lead << 8) | trail, characters);
    }
  }
  if (encoding === 'big5') addHkscs(put);
  if (encoding === 'euc-kr') addHangul(double);
  if (encoding === 'euc-jp') addHalfWidth(trail => put(0x8e00 | trail.byte, trail.character));
  if (encoding === 'shift_jis') {
    single[0x80] = 0x80;
    addHalfWidth(({byte, character}) => {
      single[byte] = character.charCodeAt(0);
    });
  }
  return {single, double, text, triple: encoding === 'euc-jp' ? jis0212(decoder) : undefined, isLead};
}

const LEADS: {readonly [Name in DoubleByteEncoding]: (byte: number) => boolean} = {
  big5: byte => byte >= 0x81 && byte <= 0xfe,
  'euc-kr': byte => byte >= 0x81 && byte <= 0xfe,
  'euc-jp': byte => isEucByte(byte) || byte === 0x8e || byte === 0x8f,
  shift_jis: byte => (byte >= 0x81 && byte <= 0x9f) || (byte >= 0xe0 && byte <= 0xfc),
};

/** Private use is ICU's own, but in Shift_JIS, where the standard has it too. */
function isOneCharacter(characters: string, encoding: DoubleByteEncoding): boolean {
  const code = characters.codePointAt(0) ?? REPLACEMENT;
  const privateUse = code >= 0xe000 && code <= 0xf8ff && encoding !== 'shift_jis';
  return code !== REPLACEMENT && !privateUse && characters.length === (code > 0xffff ? 2 : 1);
}

export function isEucByte(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0xa1 && byte <= 0xfe;
}

function addHkscs(put: (key: number, characters: string) => void): void {
  const keyOf = (pointer: number): number => {
    const trail = pointer % 157;
    return ((Math.floor(pointer / 157) + 0x81) << 8) | (trail + (trail < 0x3f ? 0x40 : 0x62));
  };
  for (const [pointer, characters] of BIG5_HKSCS) {
    for (const [offset, character] of [...characters].entries()) put(keyOf(pointer + offset), character);
  }
  for (const [pointer, characters] of BIG5_PAIRS) put(keyOf(pointer), characters);
}

/**
 * Windows-949: the syllables that KS X 1001 leaves out, in the order of Unicode, fill the rows from
 * 0x81 up to 0xC6. Two symbols were added to KS X 1001 later.
 */
function addHangul(double: Uint16Array): void {
  const present = new Set(double);
  let syllable = 0xac00;
  for (let lead = 0x81; lead <= 0xc6; lead += 1) {
    for (let trail = 0x41; trail <= (lead <= 0xa0 ? 0xfe : 0xa0); trail += 1) {
      const isLetter = (trail >= 0x41 && trail <= 0x5a) || (trail >= 0x61 && trail <= 0x7a);
      if (!isLetter && trail < 0x81) continue;
      while (present.has(syllable)) syllable += 1;
      if (syllable > 0xd7a3) break;
      double[(lead << 8) | trail] = syllable;
      syllable += 1;
    }
  }
  double[0xa2e6] = 0x20ac;
  double[0xa2e7] = 0xae;
}

function addHalfWidth(add: (katakana: {readonly byte: number; readonly character: string}) => void): void {
  for (let byte = 0xa1; byte <= 0xdf; byte += 1) {
    add({byte, character: String.fromCharCode(0xff61 - 0xa1 + byte)});
  }
}

function jis0212(decoder: Decoder): Uint16Array {
  const triple = new Uint16Array(65_536);
  for (let lead = 0xa1; lead <= 0xfe; lead += 1) {
    // ICU has IBM's extensions in row 0xF3, the standard has not.
    for (let trail = 0xa1; trail <= 0xfe; trail += 1) {
      if (lead === 0xf3 && trail <= 0xb7) continue;
      const characters = decoder.decode(Uint8Array.of(0x8f, lead, trail));
      if (isOneCharacter(characters, 'euc-jp')) triple[(lead << 8) | trail] = characters.charCodeAt(0);
    }
  }
  return triple;
}
