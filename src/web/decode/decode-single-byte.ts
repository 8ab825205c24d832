import type {Encoding} from './encoding-labels.ts';
import {textOfUnits} from './text-of-units.ts';

interface Index {
  /** Whose converter gives the rest. `latin1`: each byte is its own code point. */
  readonly base: Encoding | 'latin1';
  /** Byte and code point, where the base has another or none. */
  readonly corrections: readonly (readonly [firstByte: number, characters: string])[];
}

const UNMAPPED = '\ufffd';

/**
 * WHATWG Encoding §9, for the encodings in which runtimes differ from it: Node reads windows-1252
 * as Latin-1 (nodejs/node#60888), does not have iso-8859-16 and x-user-defined, and ICU's tables
 * of the others have a few code points of their own.
 */
const INDEXES: {readonly [Name in Encoding]?: Index} = {
  'windows-1252': {
    base: 'latin1',
    corrections: [
      [0x80, '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f'],
      [0x90, '\u0090‘’“”•–—˜™š›œ\u009džŸ'],
    ],
  },
  'iso-8859-16': {
    base: 'latin1',
    corrections: [
      [0xa1, 'ĄąŁ€„Š§š©Ș«Ź\u00adźŻ'],
      [0xb0, '°±ČłŽ”¶·žčș»ŒœŸż'],
      [0xc0, 'ÀÁÂĂÄĆÆÇÈÉÊËÌÍÎÏ'],
      [0xd0, 'ĐŃÒÓÔŐÖŚŰÙÚÛÜĘȚß'],
      [0xe0, 'àáâăäćæçèéêëìíîï'],
      [0xf0, 'đńòóôőöśűùúûüęțÿ'],
    ],
  },
  'x-user-defined': {
    base: 'latin1',
    corrections: [[0x80, String.fromCharCode(...Array.from({length: 128}, (_, at) => 0xf780 + at))]],
  },
  ibm866: {
    base: 'ibm866',
    corrections: [
      [0x1a, '\u001a'],
      [0x1c, '\u001c'],
      [0x7f, '\u007f'],
    ],
  },
  'koi8-u': {
    base: 'koi8-u',
    corrections: [
      [0xae, 'ў'],
      [0xbe, 'Ў'],
    ],
  },
  'windows-874': {
    base: 'windows-874',
    corrections: [
      [0xdb, UNMAPPED.repeat(4)],
      [0xfc, UNMAPPED.repeat(4)],
    ],
  },
  'windows-1253': {base: 'windows-1253', corrections: [[0xaa, UNMAPPED]]},
  'windows-1255': {base: 'windows-1255', corrections: [[0xca, '\u05ba']]},
};

const tables = new Map<Encoding, Uint16Array>();

/** Decodes the encodings that the runtime gets wrong; `undefined` for all others. */
export function decodeSingleByte(bytes: Uint8Array, encoding: Encoding): string | undefined {
  const index = INDEXES[encoding];
  if (index === undefined) return undefined;
  const table = tables.get(encoding) ?? buildTable(index);
  tables.set(encoding, table);
  const units = new Uint16Array(bytes.length);
  for (let at = 0; at < bytes.length; at += 1) units[at] = table[bytes[at] ?? 0] ?? 0;
  return textOfUnits(units, units.length);
}

function buildTable({base, corrections}: Index): Uint16Array {
  const table = Uint16Array.from({length: 256}, (_, byte) => byte);
  if (base !== 'latin1') {
    const decoder = new TextDecoder(base);
    for (const byte of table.keys()) table[byte] = decoder.decode(Uint8Array.of(byte)).charCodeAt(0);
  }
  for (const [first, characters] of corrections) {
    for (const [offset, char] of [...characters].entries()) table[first + offset] = char.charCodeAt(0);
  }
  return table;
}
