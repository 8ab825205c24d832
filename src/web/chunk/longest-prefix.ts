import {type Limit, LONGEST_TOKEN} from './limit.ts';

interface Prefix {
  readonly end: number;
  readonly tokens: number;
}

/**
 * A prefix of `text[start, end)` that fits, ends between two code points, and would not fit with one
 * code point more. At least one code point, so that whoever cuts gets on. `likely` is a first guess at
 * its length; in uniform text it is right, and two counts are enough.
 */
export function longestPrefix(
  text: string,
  start: number,
  end: number,
  likely: number,
  {maxTokens, countTokens}: Limit,
): Prefix {
  let fits: Prefix = {end: start, tokens: 0};
  // A prefix this long is known not to fit, or is beyond the end.
  let beyond = Math.min(end, start + LONGEST_TOKEN * maxTokens) + 1;
  let guess = start + likely;
  let step = 1;
  for (let round = 0; ; round++) {
    const probe = boundaryBetween(text, fits.end, beyond, guess, end);
    if (probe === undefined) break;
    const tokens = countTokens(text.slice(start, probe));
    if (tokens <= maxTokens) fits = {end: probe, tokens};
    else beyond = probe;
    if (tokens === maxTokens) {
      guess = probe + step;
      step *= 2;
    } else if (step > 1 || round > 6) {
      guess = (fits.end + beyond) >> 1;
    } else {
      guess = Math.round(probe + ((maxTokens - tokens) * (probe - start)) / tokens);
    }
  }
  if (fits.end > start) return fits;
  const first = start + ((text.codePointAt(start) as number) > 0xffff ? 2 : 1);
  return {end: first, tokens: countTokens(text.slice(start, first))};
}

/** The code point boundary nearest to `guess` strictly between `low` and `high`. */
function boundaryBetween(
  text: string,
  low: number,
  high: number,
  guess: number,
  end: number,
): number | undefined {
  const probe = Math.max(low + 1, Math.min(guess, high - 1, end));
  if (probe >= high || probe > end) return undefined;
  if (!splitsPair(text, probe, end)) return probe;
  if (probe - 1 > low) return probe - 1;
  return probe + 1 < high ? probe + 1 : undefined;
}

function splitsPair(text: string, at: number, end: number): boolean {
  if (at >= end) return false;
  return (text.charCodeAt(at - 1) & 0xfc00) === 0xd800 && (text.charCodeAt(at) & 0xfc00) === 0xdc00;
}
