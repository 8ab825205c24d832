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
  const {exact, tokens} = leastTokens(text, limit);
  return exact ? tokens : Number.POSITIVE_INFINITY;
}

/** How many tokens `text` has; not exact where what was found out says that it is too long. */
export function leastTokens(
  text: string,
  {maxTokens, countTokens}: Limit,
): {readonly tokens: number; readonly exact: boolean} {
  if (text.length > LONGEST_TOKEN * maxTokens) {
    return {tokens: Math.ceil(text.length / LONGEST_TOKEN), exact: false};
  }
  const cut = text.length > 2 * MANY * maxTokens ? wordEnd(text, MANY * maxTokens) : undefined;
  if (cut === undefined) return {tokens: countTokens(text), exact: true};
  const tokens = countTokens(text.slice(0, cut));
  if (tokens > maxTokens) return {tokens, exact: false};
  return {tokens: tokens + countTokens(text.slice(cut)), exact: true};
}

/** A place from `from` on, if there is one near, where counts add up: before a blank that ends a word. */
function wordEnd(text: string, from: number): number | undefined {
  for (let at = from; at < from + NEAR; at++) {
    if (text.charCodeAt(at) === BLANK && !isWhiteSpace(text.charCodeAt(at - 1))) return at;
  }
  return undefined;
}
