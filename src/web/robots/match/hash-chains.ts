const NONE = -1;

/** Numbers from 0, each filed under one 32-bit hash, in three columns. */
export class HashChains {
  readonly #hashes: Int32Array;
  readonly #next: Int32Array;
  readonly #slots: Int32Array;

  constructor(capacity: number) {
    this.#hashes = new Int32Array(capacity);
    this.#next = new Int32Array(capacity).fill(NONE);
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * capacity + 1))).fill(NONE);
  }

  /** Of memory. */
  get bytes(): number {
    return this.#hashes.byteLength + this.#next.byteLength + this.#slots.byteLength;
  }

  add(hash: number, item: number): void {
    const slot = this.#slotOf(hash);
    this.#hashes[item] = hash;
    this.#next[item] = this.#slots[slot] as number;
    this.#slots[slot] = item;
  }

  has(hash: number): boolean {
    return this.first(hash) !== NONE;
  }

  /** Some item with this hash, or -1. */
  first(hash: number): number {
    return this.#skipOthers(this.#slots[this.#slotOf(hash)] as number, hash);
  }

  /** Another item with the hash of `item`, or -1 after the last. */
  next(item: number): number {
    return this.#skipOthers(this.#next[item] as number, this.#hashes[item] as number);
  }

  #slotOf(hash: number): number {
    return (hash ^ (hash >>> 15)) & (this.#slots.length - 1);
  }

  #skipOthers(from: number, hash: number): number {
    let item = from;
    while (item !== NONE && this.#hashes[item] !== hash) item = this.#next[item] as number;
    return item;
  }
}
