// Keeps the beginning and the end of an output in fixed memory.
import {incompleteHead, incompleteTail} from '../core/text/cut.ts';

/** Ruling W9: 100 KB of the Tool API. */
export const MAX_OUTPUT_BYTES = 102_400;

/** Room for the marker; what is left is halved between head and tail. */
const MARKER_BYTES = 64;
const NEWLINE = 10;
/** In one part of an output. */
const MANY_LINES = 256;
const PART_BYTES = (MAX_OUTPUT_BYTES - MARKER_BYTES) / 2;

export interface CapturedOutput {
  /** At most `MAX_OUTPUT_BYTES`: all of it, or head, marker and tail. */
  readonly bytes: Uint8Array;
  /** What was written altogether. */
  readonly totalBytes: number;
  /** Of all that was written; the last one may have no line break. */
  readonly totalLines: number;
  readonly leftOutBytes: number;
}

/** Receives the full output once it no longer fits in memory. A live sink receives everything at once. */
export type OutputSink = ((bytes: Uint8Array) => void) | {readonly live: (bytes: Uint8Array) => void};

/**
 * Keeps the beginning and the end of a stream of any length in fixed memory. What does not fit there goes to
 * `spill`, from its first byte on; an output that fits never does.
 */
export class OutputCapture {
  readonly #spill: ((bytes: Uint8Array) => void) | undefined;
  readonly #live: ((bytes: Uint8Array) => void) | undefined;
  #total = 0;
  #newlines = 0;
  #endsInLine = false;
  /** The first bytes, all of them as long as they fit. */
  #first = Buffer.alloc(0);
  /** A ring of the last bytes, once they do not. */
  #last: Buffer | undefined;
  #lastEnd = 0;

  constructor(sink?: OutputSink) {
    if (typeof sink === 'function') this.#spill = sink;
    else this.#live = sink?.live;
  }

  write(chunk: Uint8Array): void {
    this.#live?.(chunk);
    this.#count(chunk);
    if (this.#total + chunk.length > MAX_OUTPUT_BYTES) {
      if (this.#total <= MAX_OUTPUT_BYTES) this.#spill?.(this.#first.subarray(0, this.#total));
      this.#spill?.(chunk);
    }
    const fits = Math.max(0, Math.min(chunk.length, MAX_OUTPUT_BYTES - this.#total));
    if (fits > 0) this.#append(chunk.subarray(0, fits));
    this.#total += chunk.length;
    if (fits < chunk.length) this.#keepLast(chunk.subarray(fits));
  }

  finish(): CapturedOutput {
    const total = this.#total;
    if (this.#last === undefined) {
      const bytes = Uint8Array.from(this.#first.subarray(0, total));
      return {bytes, totalBytes: total, totalLines: this.#lines, leftOutBytes: 0};
    }
    const head = this.#first.subarray(0, PART_BYTES - incompleteTail(this.#first.subarray(0, PART_BYTES)));
    const ring = Buffer.concat([this.#last.subarray(this.#lastEnd), this.#last.subarray(0, this.#lastEnd)]);
    const tail = ring.subarray(incompleteHead(ring));
    const leftOut = total - head.length - tail.length;
    const marker = Buffer.from(`\n[... ${leftOut} bytes left out ...]\n`);
    return {
      bytes: Uint8Array.from(Buffer.concat([head, marker, tail])),
      totalBytes: total,
      totalLines: this.#lines,
      leftOutBytes: leftOut,
    };
  }

  get #lines(): number {
    return this.#newlines + (this.#endsInLine ? 1 : 0);
  }

  #count(chunk: Uint8Array): void {
    let at = chunk.indexOf(NEWLINE);
    let found = 0;
    // Every byte of a gigabyte goes by here: long lines are searched for natively, and short ones by index.
    for (; at !== -1 && found < MANY_LINES; found += 1) at = chunk.indexOf(NEWLINE, at + 1);
    if (at !== -1) for (; at < chunk.length; at += 1) if (chunk[at] === NEWLINE) found += 1;
    this.#newlines += found;
    if (chunk.length > 0) this.#endsInLine = chunk[chunk.length - 1] !== NEWLINE;
  }

  #append(bytes: Uint8Array): void {
    const end = this.#total + bytes.length;
    if (end > this.#first.length) {
      const grown = Buffer.alloc(Math.min(MAX_OUTPUT_BYTES, Math.max(4096, 2 * end)));
      this.#first.copy(grown);
      this.#first = grown;
    }
    this.#first.set(bytes, this.#total);
  }

  #keepLast(bytes: Uint8Array): void {
    // What stood at the end so far may be pushed out only in part.
    this.#last ??= Buffer.from(this.#first.subarray(MAX_OUTPUT_BYTES - PART_BYTES));
    const ring = this.#last;
    const kept = bytes.subarray(Math.max(0, bytes.length - PART_BYTES));
    const room = PART_BYTES - this.#lastEnd;
    ring.set(kept.subarray(0, room), this.#lastEnd);
    ring.set(kept.subarray(room), 0);
    this.#lastEnd = (this.#lastEnd + kept.length) % PART_BYTES;
  }
}
