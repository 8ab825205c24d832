/** Bits of each table, the first ones small so that a short run needs little memory. */
const TABLE_BITS = [2 ** 22, 2 ** 24, 2 ** 26, 2 ** 26, 2 ** 26, 2 ** 26, 2 ** 26, 2 ** 26];
/** Then a table answers wrongly for about one gram in a hundred. */
const BITS_A_GRAM = 12;
/** Slots that remember where a gram was from. */
const SOURCE_SLOTS = 2 ** 18;

/**
 * Which grams were seen, in bounded memory: at most 51 MiB, for 35 million grams, which is about 17 MB of text that
 * never repeats itself. It never forgets one, and when it is full it takes no more and says so. Now and then it knows
 * a gram that it was never given; of nine in a row that is as good as impossible.
 */
export class GramTable {
  readonly #tables: Uint32Array[] = [];
  #room = 0;
  #sources: Uint32Array | undefined;
  isFull = false;

  /** `source` is a number below 65,536. */
  add(hash: number, source: number): void {
    this.#sources ??= new Uint32Array(SOURCE_SLOTS);
    this.#sources[hash & (SOURCE_SLOTS - 1)] = ((hash >>> 16) << 16) | source;
    if (this.has(hash) || !this.#makeRoom()) return;
    const table = this.#tables.at(-1);
    if (table === undefined) return;
    this.#room -= 1;
    const mask = table.length * 32 - 1;
    const first = mix(hash);
    const step = mix(first) | 1;
    for (let probe = 0; probe < 3; probe += 1) {
      const bit = (first + Math.imul(step, probe)) & mask;
      table[bit >>> 5] = (table[bit >>> 5] ?? 0) | (1 << (bit & 31));
    }
  }

  has(hash: number): boolean {
    const first = mix(hash);
    const step = mix(first) | 1;
    const third = first + Math.imul(step, 2);
    for (const table of this.#tables) {
      const mask = table.length * 32 - 1;
      if (isSet(table, first & mask) && isSet(table, (first + step) & mask) && isSet(table, third & mask))
        return true;
    }
    return false;
  }

  /** The number that the gram was last added with, where that is still known. */
  sourceOf(hash: number): number | undefined {
    const slot = this.#sources?.[hash & (SOURCE_SLOTS - 1)] ?? 0;
    return slot !== 0 && slot >>> 16 === hash >>> 16 ? slot & 0xffff : undefined;
  }

  #makeRoom(): boolean {
    if (this.#room > 0) return true;
    const bits = TABLE_BITS[this.#tables.length];
    if (bits === undefined) {
      this.isFull = true;
      return false;
    }
    this.#tables.push(new Uint32Array(bits / 32));
    this.#room = Math.floor(bits / BITS_A_GRAM);
    return true;
  }
}

function isSet(table: Uint32Array, bit: number): boolean {
  return (((table[bit >>> 5] ?? 0) >>> (bit & 31)) & 1) === 1;
}

/** The finaliser of MurmurHash3: every bit of the hash counts for every bit of the place. */
function mix(hash: number): number {
  let mixed = hash ^ (hash >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
