import type {TokenCounts} from '../page.ts';

const FIELDS = 4;

/** UTF-8 spends three bytes on a unit at most, and a token spells a byte at least. */
const MOST_TOKENS_PER_UNIT = 3;

/** `undefined` for what cannot be the counts of a text of `length` UTF-16 units. */
export function readTokenCounts(value: unknown, length: number): TokenCounts | undefined {
  if (!Array.isArray(value) || value.length % FIELDS !== 0) return undefined;
  const most = MOST_TOKENS_PER_UNIT * length;
  let start = 0;
  for (let at = 0; at < value.length; at += FIELDS) {
    const [distance, units, tokens, spaced] = value.slice(at, at + FIELDS);
    if (!isWithin(distance, 0, length) || !isWithin(units, 1, length)) return undefined;
    if (!isWithin(tokens, 1, most) || !isWithin(spaced, -1, 2 * most)) return undefined;
    start += distance;
    if (start + units > length) return undefined;
  }
  return Int32Array.from(value);
}

function isWithin(value: unknown, least: number, most: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;
}
