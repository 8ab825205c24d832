import {type DoubleByteEncoding, doubleByteIndex, isEucByte} from './double-byte-index.ts';
import {textOfUnits} from './text-of-units.ts';

const REPLACEMENT = 0xfffd;

/**
 * WHATWG Encoding §11.2, §12.1, §12.3 and §13.1, which differ in their tables only. Not left to the
 * runtime, whose converters swallow the ASCII that follows an invalid byte.
 */
export function decodeDoubleByte(bytes: Uint8Array, encoding: DoubleByteEncoding): string {
  const index = doubleByteIndex(encoding);
  // No character has more code units than bytes.
  const units = new Uint16Array(bytes.length);
  let length = 0;
  let at = 0;
  while (at < bytes.length) {
    const lead = bytes[at] ?? 0;
    at += 1;
    if (lead < 0x80 || !index.isLead(lead)) {
      units[length++] = lead < 0x80 ? lead : index.single[lead] || REPLACEMENT;
      continue;
    }
    let table = index.double;
    let first = lead;
    if (lead === 0x8f && index.triple && isEucByte(bytes[at])) {
      table = index.triple;
      first = bytes[at] ?? 0;
      at += 1;
    }
    const trail = bytes[at];
    const key = (first << 8) | (trail ?? 0);
    const unit = table[key];
    if (unit) {
      units[length++] = unit;
      at += 1;
      continue;
    }
    const text = table === index.double ? index.text.get(key) : undefined;
    if (text === undefined) {
      units[length++] = REPLACEMENT;
      // An ASCII byte is not part of the broken character; it may be markup.
      if (trail !== undefined && trail >= 0x80) at += 1;
      continue;
    }
    for (let unitAt = 0; unitAt < text.length; unitAt += 1) units[length++] = text.charCodeAt(unitAt);
    at += 1;
  }
  return textOfUnits(units, length);
}
