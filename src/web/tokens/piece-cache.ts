const SLOTS = 1 << 15;
/** Three in four slots: beyond that, linear probing gets slow. */
const MOST_PIECES = (SLOTS * 3) / 4;
const POOL_UNITS = 1 << 18;

/**
 * Token counts of pieces seen before, by their UTF-16 units. It holds copies, so that no text is kept
 * alive by it, in fixed memory (about 900 KB); when full it starts afresh.
 */
export class PieceCache {
  /** Pieces with more units are not worth their place. */
  static readonly LONGEST = 64;
  /** Where the piece of a slot starts in the pool, plus one; 0 is an empty slot. */
  readonly #starts = new Int32Array(SLOTS);
  readonly #lengths = new Uint8Array(SLOTS);
  readonly #counts = new Uint8Array(SLOTS);
  readonly #pool = new Uint16Array(POOL_UNITS);
  #used = 0;
  #pieces = 0;

  /** The hash of a piece that is one unit longer; that of no unit is 0. */
  static hash(hash: number, unit: number): number {
    return Math.imul(hash ^ unit, 0x5bd1e995);
  }

  static hashOf(units: Uint16Array, from: number, to: number): number {
    let hash = 0;
    // A piece that is not kept needs no more than the beginning of its hash.
    const end = Math.min(to, from + PieceCache.LONGEST);
    for (let at = from; at < end; at++) hash = PieceCache.hash(hash, units[at] as number);
    return hash;
  }

  /** The slot of the piece `units[from, to)` with its hash: its own, or the empty one where `add` will put it. */
  slotOf(units: Uint16Array, from: number, to: number, hash: number): number {
    let slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
    while (this.#starts[slot] !== 0 && !this.#holds(slot, units, from, to)) slot = (slot + 1) & (SLOTS - 1);
    return slot;
  }

  /** The count in a slot; 0 if it is empty. */
  countIn(slot: number): number {
    return this.#counts[slot] as number;
  }

  add(slot: number, units: Uint16Array, from: number, to: number, count: number): void {
    if (this.#pieces === MOST_PIECES || this.#used + (to - from) > POOL_UNITS) {
      this.#clear();
      return;
    }
    this.#starts[slot] = this.#used + 1;
    this.#lengths[slot] = to - from;
    this.#counts[slot] = count;
    for (let at = from; at < to; at++) this.#pool[this.#used++] = units[at] as number;
    this.#pieces++;
  }

  #holds(slot: number, units: Uint16Array, from: number, to: number): boolean {
    if (this.#lengths[slot] !== to - from) return false;
    const start = (this.#starts[slot] as number) - 1;
    const pool = this.#pool;
    for (let at = 0; from + at < to; at++) if (pool[start + at] !== units[from + at]) return false;
    return true;
  }

  #clear(): void {
    this.#starts.fill(0);
    this.#counts.fill(0);
    this.#used = 0;
    this.#pieces = 0;
  }
}
