import {jis0208} from './double-byte-index.ts';
import {textOfUnits} from './text-of-units.ts';

type CharacterSet = 'ascii' | 'roman' | 'katakana' | 'jis0208';

const ESCAPE = 0x1b;
const REPLACEMENT = 0xfffd;

/** The four sequences of the standard, without ESC. ICU knows those of ISO-2022-JP-2 as well. */
const SEQUENCES: ReadonlyMap<number, CharacterSet> = new Map([
  [0x2842, 'ascii'],
  [0x284a, 'roman'],
  [0x2849, 'katakana'],
  [0x2440, 'jis0208'],
  [0x2442, 'jis0208'],
]);

/** WHATWG Encoding §12.2.1. The only stateful encoding of the web: its errors decide what is markup. */
export function decodeIso2022Jp(bytes: Uint8Array): string {
  const units = new Uint16Array(bytes.length + 1);
  let length = 0;
  let set: CharacterSet = 'ascii';
  /** The standard's "output" flag: two escapes with nothing between them are an error. */
  let bareEscape = false;
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at] ?? 0;
    at += 1;
    if (byte === ESCAPE) {
      const next = SEQUENCES.get(((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0));
      if (next === undefined || bareEscape) units[length++] = REPLACEMENT;
      bareEscape = next !== undefined;
      if (next === undefined) continue;
      set = next;
      at += 2;
      continue;
    }
    bareEscape = false;
    if (set !== 'jis0208') {
      units[length++] = singleUnit(byte, set);
      continue;
    }
    if (!isCell(byte)) {
      units[length++] = REPLACEMENT;
      continue;
    }
    const cell = bytes[at];
    units[length++] = (isCell(cell) && jis0208(byte, cell)) || REPLACEMENT;
    // An escape is read as such also in place of the second byte.
    if (cell !== ESCAPE) at += 1;
  }
  return textOfUnits(units, length);
}

function singleUnit(byte: number, set: CharacterSet): number {
  if (set === 'katakana') return byte >= 0x21 && byte <= 0x5f ? 0xff61 - 0x21 + byte : REPLACEMENT;
  if (byte > 0x7f || byte === 0x0e || byte === 0x0f) return REPLACEMENT;
  if (set === 'roman' && byte === 0x5c) return 0xa5;
  return set === 'roman' && byte === 0x7e ? 0x203e : byte;
}

function isCell(byte: number | undefined): byte is number {
  return byte !== undefined && byte >= 0x21 && byte <= 0x7e;
}
