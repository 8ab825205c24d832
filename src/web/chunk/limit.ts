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

/** The tokens of `text`; `Infinity`, without counting, where its length alone says that it is too long. */
export function tokensOf(text: string, limit: Limit): number {
  return text.length > LONGEST_TOKEN * limit.maxTokens ? Number.POSITIVE_INFINITY : limit.countTokens(text);
}
