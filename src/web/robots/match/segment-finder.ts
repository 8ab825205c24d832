/** A text that is read by position, so that a test can count the reads. */
export interface Characters {
  readonly length: number;
  readonly charCodeAt: (at: number) => number;
}

/** Up to here `indexOf`, which is fast but promises nothing, costs at most this much for each character. */
const SHORT = 64;

interface Find {
  readonly from: number;
  readonly at: number;
}

/**
 * Finds literals in one path, in time linear in both, and remembers what it found: a hostile file can make
 * thousands of rules look for the same few literals in a path where each look is slow.
 */
export class SegmentFinder {
  readonly #path: string;
  #finds: Map<string, Find> | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Where `segment` first occurs at or after `from`, or -1. */
  find(segment: string, from: number): number {
    if (segment.length > this.#path.length - from) return -1;
    this.#finds ??= new Map();
    const known = this.#finds.get(segment);
    // Nothing between `known.from` and `known.at`, so nothing between a later start and `known.at`.
    if (known && known.from <= from && (known.at === -1 || from <= known.at)) return known.at;
    const at =
      segment.length <= SHORT ? this.#path.indexOf(segment, from) : findLong(this.#path, segment, from);
    this.#finds.set(segment, {from, at});
    return at;
  }
}

/** Knuth, Morris and Pratt: the text is read once, from left to right. */
export function findLong(text: Characters, segment: Characters, from: number): number {
  const borders = bordersOf(segment);
  let matched = 0;
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    while (matched > 0 && segment.charCodeAt(matched) !== code) matched = borders[matched - 1] ?? 0;
    if (segment.charCodeAt(matched) === code) matched += 1;
    if (matched === segment.length) return at + 1 - matched;
  }
  return -1;
}

/** For each prefix of the segment, the length of the longest proper prefix that is also its suffix. */
function bordersOf(segment: Characters): Uint32Array {
  const borders = new Uint32Array(segment.length);
  let border = 0;
  for (let at = 1; at < segment.length; at += 1) {
    const code = segment.charCodeAt(at);
    while (border > 0 && segment.charCodeAt(border) !== code) border = borders[border - 1] ?? 0;
    if (segment.charCodeAt(border) === code) border += 1;
    borders[at] = border;
  }
  return borders;
}
