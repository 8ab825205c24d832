import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {LONGEST_TOKEN} from './limit.ts';
import {longestPrefix} from './longest-prefix.ts';

/** The longest prefix between two code points that fits, found by trying all of them; one code point at least. */
function tried(text: string, start: number, end: number, maxTokens: number, count: (text: string) => number) {
  let found = 0;
  let at = start;
  for (const point of text.slice(start, end)) {
    at += point.length;
    if (found === 0 || count(text.slice(start, at)) <= maxTokens) found = at;
  }
  return {end: found, tokens: count(text.slice(start, found))};
}

const units = fc.constantFrom('a', 'é', '的', '😀', '𝔸', '\ud83d', '\ude00', '\uffff', ' ');
const bytes = (text: string): number => Buffer.from(text, 'utf8').length;

describe('T-WF-CHK-02 a word that is too large is cut as late as fits', () => {
  test('T-WF-CHK-02 between two code points, whatever the guess; half a pair counts as one', () => {
    fc.assert(
      fc.property(
        fc.array(units, {minLength: 1, maxLength: 40}).map(parts => parts.join('')),
        fc.nat({max: 3}),
        fc.integer({min: 1, max: 60}),
        fc.integer({min: 0, max: 100}),
        (text, skipped, maxTokens, likely) => {
          const start = [...text].slice(0, skipped).join('').length;
          fc.pre(start < text.length);
          const limit = {maxTokens, countTokens: bytes};
          expect(longestPrefix(text, start, text.length, likely, limit)).toEqual(
            tried(text, start, text.length, maxTokens, bytes),
          );
        },
      ),
      {numRuns: 500},
    );
  });

  test.each([
    ['a pair', 'x😀y', 1, 3],
    ['the largest character of one unit', 'x\uffffy', 1, 2],
    ['the smallest character of two', 'x\u{10000}y', 1, 3],
  ])('T-WF-CHK-02 one code point is taken though it does not fit: %s', (_, text, start, end) => {
    const limit = {maxTokens: 1, countTokens: (part: string) => 2 * part.length};
    expect(longestPrefix(text, start, text.length, 4, limit)).toEqual({end, tokens: 2 * (end - start)});
  });

  test('T-WF-CHK-02 what stands behind `end` is not taken', () => {
    const limit = {maxTokens: 10, countTokens: bytes};
    expect(longestPrefix('abcdefgh', 1, 4, 8, limit)).toEqual({end: 4, tokens: 3});
    expect(longestPrefix('a😀b', 0, 2, 8, {maxTokens: 10, countTokens: text => text.length}).end).toBe(2);
  });
});

describe('policy: a word that is too large is counted a few times, however long it is', () => {
  const text = 'x'.repeat(100_000);

  /** How many prefixes were counted until the one was found. */
  function countsFor(maxTokens: number, likely: number, count: (length: number) => number) {
    const counted: number[] = [];
    const countTokens = (part: string): number => {
      counted.push(part.length);
      return count(part.length);
    };
    const {end} = longestPrefix(text, 0, text.length, likely, {maxTokens, countTokens});
    expect(count(end)).toBeLessThanOrEqual(maxTokens);
    if (end < text.length) expect(count(end + 1)).toBeGreaterThan(maxTokens);
    return counted;
  }

  const uniform = (length: number): number => Math.ceil(length / 4);

  test('policy: twice where the guess is right', () => {
    expect(countsFor(500, 2000, uniform)).toEqual([2000, 2001]);
  });

  test.each([1, 10, 1999, 2010, 4000, 60_000])(
    'policy: six times where the text is uniform and the guess is %i',
    likely => {
      expect(countsFor(500, likely, uniform).length).toBeLessThanOrEqual(6);
    },
  );

  test('policy: never more of it than so many of the longest tokens', () => {
    const counted = countsFor(10, 50_000, length => Math.ceil(length / 50));
    expect(Math.max(...counted)).toBeLessThanOrEqual(10 * LONGEST_TOKEN);
    expect(countsFor(10, 50_000, length => Math.ceil(length / LONGEST_TOKEN)).at(0)).toBe(10 * LONGEST_TOKEN);
  });

  test('policy: a stretch that costs nothing is gone over in steps that grow', () => {
    const plateau = (length: number): number =>
      length < 2000 ? Math.ceil(length / 4) : length < 30_000 ? 500 : 501;
    expect(countsFor(500, 2000, plateau).length).toBeLessThanOrEqual(40);
  });

  test('policy: where the density changes, the rest of the search halves what is left', () => {
    const dense = (length: number): number =>
      length < 3000 ? Math.ceil(length / 100) : 30 + 3 * (length - 3000);
    for (const likely of [1, 2000, 5000, 60_000]) {
      expect(countsFor(500, likely, dense).length).toBeLessThanOrEqual(26);
    }
  });
});
