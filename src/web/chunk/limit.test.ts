import {expect, test} from 'vitest';
import {LONGEST_TOKEN, leastTokens, tokensOf} from './limit.ts';

/** Counts words, and notes how long each text was that was counted. */
function counting(maxTokens: number) {
  const counted: number[] = [];
  const countTokens = (text: string): number => {
    counted.push(text.length);
    return text.split(' ').filter(word => word !== '').length;
  };
  return {limit: {maxTokens, countTokens}, counted};
}

test('FR-WF-15a a text that is longer than so many of the longest tokens is not counted', () => {
  const {limit, counted} = counting(2);
  expect(leastTokens('a'.repeat(2 * LONGEST_TOKEN + 1), limit)).toEqual({tokens: 3, exact: false});
  expect(tokensOf('a'.repeat(2 * LONGEST_TOKEN + 1), limit)).toBe(Number.POSITIVE_INFINITY);
  expect(counted).toEqual([]);
  expect(leastTokens('a'.repeat(2 * LONGEST_TOKEN), limit)).toEqual({tokens: 1, exact: true});
});

test('FR-WF-15a of a text that is most likely too long the beginning is counted first', () => {
  const {limit, counted} = counting(10);
  expect(leastTokens('word '.repeat(24), limit)).toEqual({tokens: 24, exact: true});
  expect(leastTokens(`${'word '.repeat(24)}x`, limit)).toEqual({tokens: 13, exact: false});
  expect(counted).toEqual([120, 64]);
});

test('FR-WF-15a where the beginning fits, the rest is counted behind it', () => {
  const {limit, counted} = counting(10);
  const long = `${'a'.repeat(64)} ${'b'.repeat(70)}`;
  expect(leastTokens(long, limit)).toEqual({tokens: 2, exact: true});
  expect(tokensOf(long, limit)).toBe(2);
  expect(counted).toEqual([64, 71, 64, 71]);
});

test('FR-WF-15a where the beginning has as many tokens as the limit, the rest decides', () => {
  const {limit} = counting(10);
  expect(leastTokens(`${'word5 '.repeat(10)}${' '.repeat(70)}`, limit)).toEqual({tokens: 10, exact: true});
});

test.each([
  ['a blank far away', `${'a'.repeat(60 + 256)} b`, [318]],
  ['the last blank that is near', `${'a'.repeat(60 + 255)} b`, [315, 2]],
  ['the first place of all', `${'a'.repeat(60)} ${'b'.repeat(100)}`, [60, 101]],
  ['a place too early', `${'a'.repeat(59)} ${'b'.repeat(100)}`, [160]],
  ['two blanks', `${'a'.repeat(59)}  ${'b'.repeat(50)} ${'c'.repeat(20)}`, [111, 21]],
  ['a blank behind a line break', `${'a'.repeat(59)}\n ${'b'.repeat(50)}\t${'c'.repeat(20)}`, [132]],
])('ruling E2 a text is counted in parts at a blank behind a word: %s', (_, text, expected) => {
  const {limit, counted} = counting(10);
  leastTokens(text, limit);
  expect(counted).toEqual(expected);
});
