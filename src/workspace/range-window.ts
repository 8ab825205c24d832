// Keeps the head and the tail of a range of lines, and checks that text is UTF-8.
import {isUtf8} from 'node:buffer';
import {incompleteHead, incompleteTail, sequenceLength} from '../core/text/cut.ts';

const NEWLINE = 10;

interface RangeTail {
  readonly bytes: Uint8Array;
  /** Whether its first line is there from its start. */
  readonly whole: boolean;
}

/** What of a run of lines is shown: all of it, or a head and a tail. */
interface RangeView {
  readonly head: Uint8Array;
  /** Undefined where `head` is everything. */
  readonly tail: RangeTail | undefined;
}

/**
 * Keeps the first and the last bytes of a run of lines that goes by, in memory bounded by the
 * limit, whatever the run's length.
 */
export class RangeWindow {
  readonly #maxBytes: number;
  readonly #half: number;
  readonly #start: Uint8Array[] = [];
  /** The last `#half` bytes of what did not fit into `#start`; made when needed. */
  #ring: Uint8Array | undefined;
  /** Bytes that did not fit into `#start`. */
  #beyond = 0;
  #startBytes = 0;
  #newlines = 0;
  #last = NEWLINE;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#half = Math.max(1, Math.floor(maxBytes / 2));
  }

  get bytes(): number {
    return this.#startBytes + this.#beyond;
  }

  /** Lines so far; one without a line end counts. */
  get lines(): number {
    return this.#newlines + (this.#last === NEWLINE ? 0 : 1);
  }

  /** `newlines`: how many are in `part`. */
  add(part: Uint8Array, newlines: number): void {
    if (part.length === 0) return;
    this.#newlines += newlines;
    this.#last = part[part.length - 1] ?? NEWLINE;
    const room = Math.min(part.length, this.#maxBytes - this.#startBytes);
    if (room > 0) {
      this.#start.push(part.slice(0, room));
      this.#startBytes += room;
    }
    if (room < part.length) this.#keepLast(part.subarray(room));
  }

  /** At most `maxLines` lines and the byte limit; what is cut goes out of the middle, at line ends if it can. */
  view(maxLines: number): RangeView {
    const start = Buffer.concat(this.#start);
    const fits = this.#beyond === 0;
    if (fits && this.lines <= maxLines) return {head: start, tail: undefined};
    const end = fits ? start : this.#lastBytes(start);
    const half = Math.floor(maxLines / 2);
    return {
      head: firstLines(fits ? start : start.subarray(0, this.#half), half),
      tail: lastLines(fits ? end : end.subarray(Math.max(0, end.length - this.#half)), half, !fits),
    };
  }

  #keepLast(part: Uint8Array): void {
    this.#ring ??= new Uint8Array(this.#half);
    // The byte that comes as number n beyond the start is kept at n modulo the size.
    let rest = part.subarray(Math.max(0, part.length - this.#half));
    let at = (this.#beyond + part.length - rest.length) % this.#half;
    while (rest.length > 0) {
      const piece = rest.subarray(0, this.#half - at);
      this.#ring.set(piece, at);
      rest = rest.subarray(piece.length);
      at = (at + piece.length) % this.#half;
    }
    this.#beyond += part.length;
  }

  #lastBytes(start: Uint8Array): Uint8Array {
    const ring = this.#ring ?? new Uint8Array();
    if (this.#beyond < this.#half) return Buffer.concat([start, ring.subarray(0, this.#beyond)]);
    const oldest = this.#beyond % this.#half;
    return Buffer.concat([ring.subarray(oldest), ring.subarray(0, oldest)]);
  }
}

/** As many whole lines as there are, `maxLines` at most; a part of the first one where that is none. */
function firstLines(bytes: Uint8Array, maxLines: number): Uint8Array {
  let end = 0;
  for (let line = 0; line < maxLines; line += 1) {
    const newline = bytes.indexOf(NEWLINE, end);
    if (newline === -1) break;
    end = newline + 1;
  }
  return end > 0 ? bytes.subarray(0, end) : bytes.subarray(0, bytes.length - incompleteTail(bytes));
}

/** The same from the end. `cut`: the bytes may begin within a line. */
function lastLines(bytes: Uint8Array, maxLines: number, cut: boolean): RangeTail {
  // A newline at the very end belongs to the last line.
  let start = bytes.length;
  for (let line = 0; line < maxLines; line += 1) {
    const newline = start < 2 ? -1 : bytes.lastIndexOf(NEWLINE, start - 2);
    if (newline === -1) {
      if (!cut) start = 0;
      break;
    }
    start = newline + 1;
  }
  if (start < bytes.length) return {bytes: bytes.subarray(start), whole: true};
  return {bytes: bytes.subarray(incompleteHead(bytes)), whole: false};
}

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
