const SLOTS = 1024;

/** Finds lower-case names in a source text, in any ASCII case, without cutting them out. */
export class NameTable {
  readonly #names: readonly string[];
  /** The index of a name plus one, by its hash; 0 for a free slot. */
  readonly #slots = new Uint8Array(SLOTS);

  /** At most 255 names. */
  constructor(names: readonly string[]) {
    this.#names = names;
    for (const [index, name] of names.entries()) {
      let slot = hash(name, 0, name.length);
      while (this.#slots[slot] !== 0) slot = (slot + 1) % SLOTS;
      this.#slots[slot] = index + 1;
    }
  }

  /** The index of the name that stands in `source` from `start` to `end`, or -1. */
  find(source: string, start: number, end: number): number {
    let slot = hash(source, start, end);
    for (;;) {
      const entry = this.#slots[slot] ?? 0;
      if (entry === 0) return -1;
      if (isAt(source, start, end, this.#names[entry - 1] ?? '')) return entry - 1;
      slot = (slot + 1) % SLOTS;
    }
  }
}

function hash(source: string, start: number, end: number): number {
  const first = source.charCodeAt(start) | 0x20;
  const middle = source.charCodeAt((start + end) >> 1) | 0x20;
  const last = source.charCodeAt(end - 1) | 0x20;
  return (first * 5 + middle * 71 + last * 29 + (end - start) * 131) % SLOTS;
}

function isAt(source: string, start: number, end: number, name: string): boolean {
  if (name.length !== end - start) return false;
  for (let index = 0; index < name.length; index++) {
    const unit = source.charCodeAt(start + index);
    const lower = unit >= 0x41 && unit <= 0x5a ? unit | 0x20 : unit;
    if (lower !== name.charCodeAt(index)) return false;
  }
  return true;
}
