/** Stands in the list where an element began that formatting does not reach into. */
const MARKER = -1;
/** HTML 13.2.4.3, "Noah's Ark clause": at most three equal entries. */
const ARK_CAPACITY = 3;
/** So many entries after a marker are only counted, not compared. */
const MAX_COUNTED = 16;

/** HTML 13.2.4.3: the list of active formatting elements, oldest first. */
export class FormattingElements {
  readonly #keys: number[] = [];
  readonly #nodes: number[] = [];
  /** Whether an entry is still on the stack of open elements. */
  readonly #isOpen: boolean[] = [];
  /**
   * The list keeps what Noah's Ark would have dropped. That changes nothing as long as elements end in the order in
   * which they began; where they do not, this tells that the list may hold too much.
   */
  mayOverflow = false;
  /** The entries looked at, a measure of the work done. */
  steps = 0;

  get size(): number {
    return this.#keys.length;
  }

  /** Whether the newest entry is neither a marker nor open, so that there is something to reconstruct. */
  get hasUnopened(): boolean {
    const newest = this.#keys.length - 1;
    return newest >= 0 && this.#keys[newest] !== MARKER && this.#isOpen[newest] === false;
  }

  keyAt(entry: number): number {
    return this.#keys[entry] ?? MARKER;
  }

  nodeAt(entry: number): number {
    return this.#nodes[entry] ?? 0;
  }

  isOpen(entry: number): boolean {
    return this.#isOpen[entry] ?? false;
  }

  push(key: number, node: number): void {
    let equal = 0;
    let entry = this.#keys.length - 1;
    for (; entry >= 0 && this.#keys[entry] !== MARKER && this.#keys.length - entry <= MAX_COUNTED; entry--) {
      if (this.#keys[entry] === key) equal++;
    }
    this.mayOverflow ||= equal >= ARK_CAPACITY || this.#keys.length - entry > MAX_COUNTED;
    this.#keys.push(key);
    this.#nodes.push(node);
    this.#isOpen.push(true);
  }

  insertMarker(): void {
    this.#keys.push(MARKER);
    this.#nodes.push(0);
    this.#isOpen.push(true);
  }

  clearToMarker(): void {
    this.#nodes.length = this.#isOpen.length = Math.max(this.#keys.lastIndexOf(MARKER), 0);
    this.#keys.length = this.#nodes.length;
  }

  /** The newest entry of a name after the last marker, or -1. */
  newestOf(key: number): number {
    for (let entry = this.#keys.length - 1; entry >= 0; entry--) {
      this.steps++;
      if (this.#keys[entry] === key) return entry;
      if (this.#keys[entry] === MARKER) return -1;
    }
    return -1;
  }

  /** The entry of an element, or -1. */
  indexOf(node: number): number {
    const entry = this.#nodes.lastIndexOf(node);
    this.steps += this.#nodes.length - Math.max(entry, 0);
    return entry;
  }

  /** The oldest of the entries at the end of the list that are not open. */
  oldestUnopened(): number {
    let entry = this.#keys.length;
    while (entry > 0 && this.#keys[entry - 1] !== MARKER && this.#isOpen[entry - 1] === false) entry--;
    this.steps += this.#keys.length - entry;
    return entry;
  }

  insertAfter(entry: number, key: number, node: number): void {
    this.#keys.splice(entry + 1, 0, key);
    this.#nodes.splice(entry + 1, 0, node);
    this.#isOpen.splice(entry + 1, 0, true);
  }

  remove(entry: number): void {
    if (entry === this.#keys.length - 1) {
      this.#keys.pop();
      this.#nodes.pop();
      this.#isOpen.pop();
      return;
    }
    this.steps += this.#keys.length - entry;
    this.#keys.splice(entry, 1);
    this.#nodes.splice(entry, 1);
    this.#isOpen.splice(entry, 1);
  }

  /** Puts another element in the place of an entry's. */
  reopen(entry: number, node: number): void {
    this.#nodes[entry] = node;
    this.#isOpen[entry] = true;
  }

  /** Notes that an element has left the stack. */
  noteClosed(node: number): void {
    const entry = this.indexOf(node);
    if (entry !== -1) this.#isOpen[entry] = false;
  }
}
