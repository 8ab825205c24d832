/** Memory for arrays of one length, in one piece: a system takes back what is large, and may keep what is not. */
export class ArrayRoom {
  readonly #memory: ArrayBuffer;
  readonly #length: number;
  #taken = 0;

  constructor(length: number, bytes: number) {
    this.#memory = new ArrayBuffer(length * bytes);
    this.#length = length;
  }

  /** What was in `old`, in an array of the new length. Those of larger numbers come first. */
  move<Numbers extends Uint8Array | Uint16Array | Int32Array>(
    old: Numbers,
    make: new (memory: ArrayBuffer, from: number, length: number) => Numbers,
  ): Numbers {
    const array = new make(this.#memory, this.#taken, this.#length);
    array.set(old);
    this.#taken += array.byteLength;
    return array;
  }
}
