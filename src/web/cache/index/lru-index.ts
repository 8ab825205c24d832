interface Known {
  readonly size: number;
  /** Milliseconds since the epoch; unknown until another process looks into the file. */
  readonly lastAccess: number | undefined;
}

interface Dated {
  readonly key: string;
  readonly lastAccess: number;
}

/**
 * Ruling F6: what is in the cache, how large, and which entry was used least recently. In memory only.
 * A binary heap orders the dated entries; one whose date has changed since is dropped when it comes up.
 */
export class LruIndex {
  readonly #known = new Map<string, Known>();
  readonly #undated = new Set<string>();
  #heap: Dated[] = [];
  #bytes = 0;

  get count(): number {
    return this.#known.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): Known | undefined {
    return this.#known.get(key);
  }

  /** Entries whose last access is not known. */
  undated(): readonly string[] {
    return [...this.#undated];
  }

  set(key: string, size: number, lastAccess?: number): void {
    this.delete(key);
    this.#known.set(key, {size, lastAccess});
    this.#bytes += size;
    if (lastAccess === undefined) this.#undated.add(key);
    else this.#push({key, lastAccess});
  }

  delete(key: string): void {
    this.#bytes -= this.#known.get(key)?.size ?? 0;
    this.#known.delete(key);
    this.#undated.delete(key);
  }

  /** FR-WF-CCH-LRU-01: of the dated entries the one used least recently; ties go by key. */
  oldest(): string | undefined {
    for (let top = this.#heap[0]; top; top = this.#heap[0]) {
      if (this.#isCurrent(top)) return top.key;
      this.#pop();
    }
    return undefined;
  }

  #isCurrent({key, lastAccess}: Dated): boolean {
    return this.#known.get(key)?.lastAccess === lastAccess;
  }

  #push(dated: Dated): void {
    // Every hit leaves a stale item behind; sorting what remains makes a heap again.
    if (this.#heap.length > 2 * this.#known.size + 64) {
      this.#heap = [...this.#known]
        .flatMap(([key, {lastAccess}]) => (lastAccess === undefined ? [] : [{key, lastAccess}]))
        .sort((one, other) => (precedes(one, other) ? -1 : 1));
      return;
    }
    const heap = this.#heap;
    let at = heap.push(dated) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent];
      if (!above || !precedes(dated, above)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = dated;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    let at = 0;
    for (;;) {
      const left = heap[2 * at + 1];
      const right = heap[2 * at + 2];
      const smaller = left && right && precedes(right, left) ? right : left;
      if (!smaller || !precedes(smaller, last)) break;
      heap[at] = smaller;
      at = smaller === left ? 2 * at + 1 : 2 * at + 2;
    }
    heap[at] = last;
  }
}

function precedes(one: Dated, other: Dated): boolean {
  if (one.lastAccess !== other.lastAccess) return one.lastAccess < other.lastAccess;
  return one.key < other.key;
}
