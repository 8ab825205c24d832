import {describe, expect, test} from 'vitest';
import type {FetchChunk} from '../page.ts';
import {truncateText} from './truncate-text.ts';

const chunk = (text: string): FetchChunk => ({heading: 'H', text, token_count: 0});
const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
/** One token for each UTF-16 unit keeps the counts predictable. */
const count = (text: string): number => text.length;

/** At both ends of every range that JSON spells with another number of bytes. */
const EDGES = [
  0x00, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x1f, 0x20, 0x21, 0x22, 0x23, 0x5b, 0x5c, 0x5d, 0x7f,
  0x80, 0x7ff, 0x800, 0xd7ff, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0xe000, 0xffff, 0x1_0000, 0x10_ffff,
];

describe('FR-WF-OUT-01 the longest prefix', () => {
  test.each(EDGES.map(code => [`U+${code.toString(16)}`, String.fromCodePoint(code)]))(
    'FR-WF-OUT-01 %s: fits to the byte, and not one byte less',
    (_, character) => {
      const text = `a${character}`;
      const whole = {...chunk(text), token_count: count(text)};
      expect(truncateText(chunk(text), bytesOf(whole), count)).toEqual(whole);
      expect(truncateText(chunk(text), bytesOf(whole) - 1, count)?.text).toBe('a');
      // More room changes nothing.
      expect(truncateText(chunk(text), bytesOf(whole) + 1, count)).toEqual(whole);
    },
  );

  test.each(EDGES.map(code => [`U+${code.toString(16)}`, String.fromCodePoint(code)]))(
    'FR-WF-OUT-01 %s: what stands before it is kept whole',
    (_, character) => {
      const text = `${character}bc`;
      const shorter = {...chunk(text.slice(0, -1)), token_count: count(text) - 1};
      expect(truncateText(chunk(text), bytesOf(shorter), count)).toEqual(shorter);
    },
  );

  test('FR-WF-OUT-01 a count with one more digit takes its byte from the text', () => {
    const nine = {...chunk('a'.repeat(9)), token_count: 9};
    expect(truncateText(chunk('a'.repeat(50)), bytesOf(nine), count)).toEqual(nine);
    // One byte more is room for a tenth letter or for the second digit of its count, not for both.
    expect(truncateText(chunk('a'.repeat(50)), bytesOf(nine) + 1, count)).toEqual(nine);
    const ten = {...chunk('a'.repeat(10)), token_count: 10};
    expect(truncateText(chunk('a'.repeat(50)), bytesOf(nine) + 2, count)).toEqual(ten);
  });

  test('FR-WF-OUT-01 nothing where not even an empty text fits', () => {
    const empty = {...chunk(''), token_count: 0};
    expect(truncateText(chunk('abc'), bytesOf(empty), count)).toEqual(empty);
    expect(truncateText(chunk('abc'), bytesOf(empty) - 1, count)).toBeUndefined();
  });
});
