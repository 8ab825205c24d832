import {isWhiteSpace} from './white-space.ts';

/** How much goes into a chunk, and how that is counted. */
export interface Limit {
  readonly maxTokens: number;
  /**
   * Exact, and additive at a cut before a line that is not blank, and before a white-space character
   * other than a newline that follows a non-white-space one: `count(a + b) === count(a) + count(b)`.
   * cl100k_base is, since none of its tokens reaches across such places.
   */
  readonly countTokens: (text: string) => number;
}

/** No token of cl100k_base spells more bytes than this, let alone UTF-16 units. */
export const LONGEST_TOKEN = 128;

/** Prose has 3 to 5 units a token: so many units for each token of the limit are most likely too many. */
const MANY = 6;
const NEAR = 256;
const BLANK = 0x20;

/** The tokens of `text`; `Infinity` where its length or its beginning alone says that it is too long. */
export function tokensOf(text: string, limit: Limit): number {
  const {maxTokens, countTokens} = limit;
  if (text.length > LONGEST_TOKEN * maxTokens) return Number.POSITIVE_INFINITY;
  const cut = text.length > 2 * MANY * maxTokens ? wordEnd(text, MANY * maxTokens) : undefined;
  if (cut === undefined) return countTokens(text);
  const before = countTokens(text.slice(0, cut));
  return before > maxTokens ? Number.POSITIVE_INFINITY : before + countTokens(text.slice(cut));
}

/** A place from `from` on, if there is one near, where counts add up: before a blank that ends a word. */
function wordEnd(text: string, from: number): number | undefined {
  for (let at = from; at < from + NEAR; at++) {
    if (text.charCodeAt(at) === BLANK && !isWhiteSpace(text.charCodeAt(at - 1))) return at;
  }
  return undefined;
}

/** UTF-8 spends three bytes on a unit at most, and a token spells a byte at least. */
const MOST_TOKENS_PER_UNIT = 3;

/** Whether `text` is within the limit; counted only where its length does not tell. */
export function fits(text: string, limit: Limit): boolean {
  return text.length * MOST_TOKENS_PER_UNIT <= limit.maxTokens || tokensOf(text, limit) <= limit.maxTokens;
}
