import {isUtf8} from 'node:buffer';

/**
 * Says where text that comes in blocks stops being text: the byte offset of the first sequence
 * that is not UTF-8, or of the first NUL (which editors and search take for binary as well).
 */
export class Utf8Check {
  /** The offset, once there is one. */
  invalidAt: number | undefined;
  /** The start of a sequence whose rest is in the next block. */
  #carry: Uint8Array = new Uint8Array();
  #position = 0;

  /** False once the content is known to be no text. */
  add(block: Uint8Array): boolean {
    if (this.invalidAt !== undefined) return false;
    const bytes = this.#carry.length === 0 ? block : Buffer.concat([this.#carry, block]);
    const complete = bytes.length - incompleteTail(bytes);
    const text = bytes.subarray(0, complete);
    if (!isUtf8(text) || text.includes(0)) {
      this.invalidAt = this.#position + firstInvalid(text);
      return false;
    }
    this.#position += complete;
    this.#carry = bytes.slice(complete);
    return true;
  }

  /** After the last block: false where the content is no text. */
  finish(): boolean {
    if (this.invalidAt === undefined && this.#carry.length > 0) this.invalidAt = this.#position;
    return this.invalidAt === undefined;
  }
}

/** Bytes at the end that begin a sequence and do not finish it. */
export function incompleteTail(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte >= 0xc0) return sequenceLength(byte) > back ? back : 0;
    if (byte < 0x80) return 0;
  }
  return 0;
}

function sequenceLength(lead: number): number {
  if (lead < 0x80) return 1;
  if (lead < 0xe0) return 2;
  return lead < 0xf0 ? 3 : 4;
}

/** The Unicode Standard, table 3-7: the second byte's range depends on the first. */
function firstInvalid(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length) {
    const lead = bytes[at] ?? 0;
    if (lead === 0 || (lead >= 0x80 && lead < 0xc2) || lead > 0xf4) return at;
    const length = sequenceLength(lead);
    for (let next = 1; next < length; next += 1) {
      const byte = bytes[at + next] ?? 0;
      const low = next > 1 ? 0x80 : lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
      const high = next > 1 ? 0xbf : lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
      if (byte < low || byte > high) return at;
    }
    at += length;
  }
  return at;
}
