import {freeMemoryWhenIdle} from '../../../core/memory/free-memory.ts';

/** Parts below this size, or that hold much more memory than they show, are copied together. */
const SMALL_BYTES = 4096;
const BLOCK_BYTES = 65_536;
/** From here on the memory of the parts is not left to the garbage collector. */
const LARGE_BYTES = 1_048_576;

/** Keeps what it is given as it came, but for small parts: a million of one byte cost a megabyte. */
export class ByteCollector {
  readonly #parts: Uint8Array[] = [];
  #block = Buffer.alloc(0);
  #filled = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(bytes: Uint8Array): void {
    this.#length += bytes.length;
    if (bytes.length >= SMALL_BYTES && bytes.length * 2 >= bytes.buffer.byteLength) {
      this.#closeBlock();
      this.#parts.push(bytes);
      return;
    }
    if (this.#filled + bytes.length > this.#block.length) {
      this.#closeBlock();
      this.#block = Buffer.allocUnsafeSlow(
        Math.max(bytes.length, this.#parts.length === 0 ? SMALL_BYTES : BLOCK_BYTES),
      );
    }
    this.#block.set(bytes, this.#filled);
    this.#filled += bytes.length;
  }

  /** Everything, in one piece. The parts are used up: those that had memory of their own are empty then. */
  join(): Uint8Array {
    this.#closeBlock();
    const [first] = this.#parts;
    if (first !== undefined && this.#parts.length === 1) return first;
    const whole = Buffer.allocUnsafeSlow(this.#length);
    let at = 0;
    for (const part of this.#parts) {
      whole.set(part, at);
      at += part.length;
    }
    if (this.#length >= LARGE_BYTES) freeMemoryWhenIdle(this.#parts.filter(isWhole));
    this.#parts.length = 0;
    return whole;
  }

  /** What is left of the block takes the next small parts. */
  #closeBlock(): void {
    if (this.#filled > 0) this.#parts.push(this.#block.subarray(0, this.#filled));
    this.#block = this.#block.subarray(this.#filled);
    this.#filled = 0;
  }
}

/** Whether a part has memory of its own; one of `Buffer`'s pool or of a decoder may have not. */
function isWhole({buffer, byteLength}: Uint8Array): boolean {
  return buffer.byteLength === byteLength;
}
