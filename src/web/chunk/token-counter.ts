import type {TokenCounts} from '../page.ts';
import type {Block} from './blocks.ts';
import {type Limit, leastTokens} from './limit.ts';
import {tokensAdded} from './tokens-added.ts';

/** Numbers for each stretch in `TokenCounts`, and their places. */
const FIELDS = 4;
const LENGTH = 1;
const TOKENS = 2;
const SPACED = 3;
const NOT_ASKED = 0;
const AT_LEAST = -1;

/** Parts of blocks that are shorter are counted again faster than they are kept. */
const SHORTEST = 16;
/** Headings and rules are kept too: without a single count to make, a hit does not load the vocabulary. */
const SHORTEST_BLOCK = 3;

/** A stretch of the document that was counted. */
export interface Counted {
  /** `Infinity` where it is only known that they are too many. */
  readonly tokens: number;
  /** Where the counter keeps it; -1 if it does not. */
  readonly slot: number;
}

/** Counts stretches of one document but for those that were counted before. */
export class TokenCounter {
  readonly #limit: Limit;
  /** As `TokenCounts`, but with starts instead of distances. */
  readonly #known: Int32Array;
  /** The same, in the order of counting. */
  #counted = new Int32Array(64 * FIELDS);
  #size = 0;
  /** The slots of stretches that are asked for again, from the first on in the order of the text. */
  #again = 0;
  #againEnd = 0;

  constructor(limit: Limit, known: TokenCounts | undefined) {
    this.#limit = limit;
    this.#known = known ? withStarts(known) : new Int32Array();
  }

  /** What is known by now. */
  get counts(): TokenCounts {
    const counts = this.#sorted();
    for (let at = counts.length - FIELDS; at > 0; at -= FIELDS) {
      counts[at] = (counts[at] as number) - (counts[at - FIELDS] as number);
    }
    return counts;
  }

  countBlock({start, text}: Block): Counted {
    return this.#count(start, text, SHORTEST_BLOCK);
  }

  count(start: number, text: string): Counted {
    return this.#count(start, text, SHORTEST);
  }

  /** Where the next stretch will be kept. */
  get nextSlot(): number {
    return this.#size;
  }

  /** What was counted since `slot` is asked for again, in the order of the text. */
  expectAgain(slot: number): void {
    this.#again = slot;
    this.#againEnd = this.#size;
  }

  #count(start: number, text: string, shortest: number): Counted {
    const {maxTokens} = this.#limit;
    const {length} = text;
    const again = this.#findAgain(start, length);
    if (again >= 0) {
      const isExact = this.#counted[again + SPACED] !== AT_LEAST;
      return {
        tokens: isExact ? (this.#counted[again + TOKENS] as number) : Number.POSITIVE_INFINITY,
        slot: again,
      };
    }
    const known = this.#find(start, length);
    let tokens = known < 0 ? 0 : (this.#known[known + TOKENS] as number);
    let spaced = known < 0 ? NOT_ASKED : (this.#known[known + SPACED] as number);
    if (known < 0 || (spaced === AT_LEAST && tokens <= maxTokens)) {
      const least = leastTokens(text, this.#limit);
      tokens = least.tokens;
      spaced = least.exact ? NOT_ASKED : AT_LEAST;
    }
    const slot = length < shortest ? -1 : this.#keep(start, length, tokens, spaced);
    return {tokens: spaced === AT_LEAST ? Number.POSITIVE_INFINITY : tokens, slot};
  }

  /** How many tokens `space`, always the same for it, adds to a stretch that was counted whole. */
  behind({tokens, slot}: Counted, text: string, space: string): number {
    const {countTokens} = this.#limit;
    if (slot < 0) return tokensAdded(text, space, countTokens);
    const known = this.#counted[slot + SPACED] as number;
    if (known > 0) return known - tokens;
    const added = tokensAdded(text, space, countTokens);
    this.#counted[slot + SPACED] = tokens + added;
    return added;
  }

  #keep(start: number, length: number, tokens: number, spaced: number): number {
    const slot = this.#size;
    if (slot === this.#counted.length) {
      const larger = new Int32Array(2 * slot);
      larger.set(this.#counted);
      this.#counted = larger;
    }
    this.#counted[slot] = start;
    this.#counted[slot + LENGTH] = length;
    this.#counted[slot + TOKENS] = tokens;
    this.#counted[slot + SPACED] = spaced;
    this.#size += FIELDS;
    return slot;
  }

  /**
   * Every stretch once. Of a block that is too large it is first seen which parts fit, and then these are put
   * together, so some were counted twice, and their order is that of two passes.
   */
  #sorted(): Int32Array {
    const counted = this.#counted;
    const slots = Array.from({length: this.#size / FIELDS}, (_, index) => index * FIELDS);
    slots.sort(
      (a, b) =>
        (counted[a] as number) - (counted[b] as number) ||
        (counted[b + LENGTH] as number) - (counted[a + LENGTH] as number) ||
        (counted[b + SPACED] as number) - (counted[a + SPACED] as number),
    );
    const sorted = new Int32Array(this.#size);
    let size = 0;
    for (const slot of slots) {
      const start = counted[slot] as number;
      const length = counted[slot + LENGTH] as number;
      const last = size - FIELDS;
      if (sorted[last] === start && sorted[last + LENGTH] === length) continue;
      sorted.set(counted.subarray(slot, slot + FIELDS), size);
      size += FIELDS;
    }
    return sorted.slice(0, size);
  }

  /** The slot of a stretch that is expected again; -1 if it is none. */
  #findAgain(start: number, length: number): number {
    const counted = this.#counted;
    while (this.#again < this.#againEnd && (counted[this.#again] as number) < start) this.#again += FIELDS;
    for (let slot = this.#again; slot < this.#againEnd && counted[slot] === start; slot += FIELDS) {
      if (counted[slot + LENGTH] === length) return slot;
    }
    return -1;
  }

  /** Where the numbers of a stretch are among those that were known before; -1 if they are not. */
  #find(start: number, length: number): number {
    const known = this.#known;
    let low = 0;
    let high = known.length / FIELDS;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBefore(known, middle * FIELDS, start, length)) low = middle + 1;
      else high = middle;
    }
    const at = low * FIELDS;
    return known[at] === start && known[at + LENGTH] === length ? at : -1;
  }
}

/** By start, and the longer one first where two start together. */
function isBefore(numbers: ArrayLike<number>, at: number, start: number, length: number): boolean {
  const other = numbers[at] as number;
  return other < start || (other === start && (numbers[at + LENGTH] as number) > length);
}

/** How many UTF-16 units of a document need no counting for chunks of at most `maxTokens`. */
export function countedUnits(counts: TokenCounts, maxTokens: number): number {
  let units = 0;
  let start = 0;
  let end = 0;
  for (let at = 0; at < counts.length; at += FIELDS) {
    start += counts[at] as number;
    // What is too large is cut, and its parts are stretches of their own.
    if ((counts[at + TOKENS] as number) > maxTokens) continue;
    const to = start + (counts[at + LENGTH] as number);
    units += Math.max(0, to - Math.max(start, end));
    end = Math.max(end, to);
  }
  return units;
}

function withStarts(counts: TokenCounts): Int32Array {
  const absolute = Int32Array.from(counts);
  for (let at = FIELDS; at < absolute.length; at += FIELDS) {
    absolute[at] = (absolute[at] as number) + (absolute[at - FIELDS] as number);
  }
  return absolute;
}
