// The limit of a chunk, and counting against it no further than it needs.

import {isWhiteSpace} from './blocks.ts';

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

/** The tokens of `text`: exact up to the limit, some number above it where length or beginning say enough. */
export function countUpTo(text: string, {maxTokens, countTokens}: Limit): number {
  if (text.length > LONGEST_TOKEN * maxTokens) return Math.ceil(text.length / LONGEST_TOKEN);
  const cut = text.length > 2 * MANY * maxTokens ? wordEnd(text, MANY * maxTokens) : undefined;
  if (cut === undefined) return countTokens(text);
  const tokens = countTokens(text.slice(0, cut));
  return tokens > maxTokens ? tokens : tokens + countTokens(text.slice(cut));
}

/** A place from `from` on, if there is one near, where counts add up: before a blank that ends a word. */
function wordEnd(text: string, from: number): number | undefined {
  for (let at = from; at < from + NEAR; at++) {
    if (text.charCodeAt(at) === BLANK && !isWhiteSpace(text.charCodeAt(at - 1))) return at;
  }
  return undefined;
}

/** How many tokens white space adds to the text before it, of which only the last word decides. */
export function tokensAdded(text: string, space: string, countTokens: (text: string) => number): number {
  const line = text.lastIndexOf('\n') + 1;
  const blank = text.lastIndexOf(' ');
  const word = blank > line && !isWhiteSpace(text.charCodeAt(blank - 1)) ? blank : line;
  const tail = text.slice(word);
  return countTokens(tail + space) - countTokens(tail);
}
