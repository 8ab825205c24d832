import {freeMemory} from '../../core/memory/free-memory.ts';

const BYTES_PER_UNIT = 3;

/** A text that is written piece by piece, in UTF-8. A character beyond Latin-1 would double what it takes as one string. */
export class PackedText {
  #bytes: Buffer;
  #size = 0;
  /** The text up to here, once UTF-8 would not give back what was written: half of a surrogate pair. */
  #text: string | undefined;

  /** Memory that nothing is written to costs nothing. */
  constructor(expectedBytes: number) {
    this.#bytes = Buffer.allocUnsafeSlow(expectedBytes);
  }

  add(piece: string): void {
    if (this.#text === undefined && piece.isWellFormed()) this.#write(piece);
    else this.#text = this.#sofar() + piece;
  }

  finish(): Uint8Array | string {
    return this.#text ?? this.#bytes.subarray(0, this.#size);
  }

  #sofar(): string {
    return this.#text ?? this.#bytes.toString('utf8', 0, this.#size);
  }

  #write(piece: string): void {
    const least = this.#size + BYTES_PER_UNIT * piece.length;
    if (least > this.#bytes.length) {
      const old = this.#bytes;
      this.#bytes = Buffer.allocUnsafeSlow(Math.max(least, 2 * old.length));
      old.copy(this.#bytes, 0, 0, this.#size);
      freeMemory(old);
    }
    this.#size += this.#bytes.write(piece, this.#size);
  }
}
