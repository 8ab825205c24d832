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
  readonly #counted: number[] = [];

  constructor(limit: Limit, known: TokenCounts | undefined) {
    this.#limit = limit;
    this.#known = known ? withStarts(known) : new Int32Array();
  }

  /** What is known by now. */
  get counts(): TokenCounts {
    const counted = this.#counted;
    const counts: number[] = [];
    let last = -1;
    for (const slot of slotsInOrder(counted)) {
      const start = counted[slot] as number;
      const length = counted[slot + LENGTH] as number;
      if (start === counted[last] && length === counted[last + LENGTH]) continue;
      const distance = last < 0 ? start : start - (counted[last] as number);
      counts.push(distance, length, counted[slot + TOKENS] as number, counted[slot + SPACED] as number);
      last = slot;
    }
    return Int32Array.from(counts);
  }

  countBlock({start, text}: Block): Counted {
    return this.#count(start, text, SHORTEST_BLOCK);
  }

  count(start: number, text: string): Counted {
    return this.#count(start, text, SHORTEST);
  }

  #count(start: number, text: string, shortest: number): Counted {
    const {maxTokens} = this.#limit;
    const {length} = text;
    const known = this.#find(start, length);
    let tokens = known < 0 ? 0 : (this.#known[known + TOKENS] as number);
    let spaced = known < 0 ? NOT_ASKED : (this.#known[known + SPACED] as number);
    if (known < 0 || (spaced === AT_LEAST && tokens <= maxTokens)) {
      const least = leastTokens(text, this.#limit);
      tokens = least.tokens;
      spaced = least.exact ? NOT_ASKED : AT_LEAST;
    }
    const slot = length < shortest ? -1 : this.#counted.push(start, length, tokens, spaced) - FIELDS;
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

function slotsInOrder(counted: readonly number[]): number[] {
  const slots: number[] = [];
  let sorted = true;
  for (let slot = 0; slot < counted.length; slot += FIELDS) {
    const [start, length] = [counted[slot] as number, counted[slot + LENGTH] as number];
    sorted &&= slot === 0 || isBefore(counted, slot - FIELDS, start, length);
    slots.push(slot);
  }
  // Atoms of a block that is too large: first it is seen which of them fit, then they are put together.
  if (sorted) return slots;
  return slots.sort(
    (a, b) =>
      (counted[a] as number) - (counted[b] as number) ||
      (counted[b + LENGTH] as number) - (counted[a + LENGTH] as number) ||
      (counted[b + SPACED] as number) - (counted[a + SPACED] as number),
  );
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
