import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {oracleCount} from '../../../test/support/cl100k-oracle.ts';
import {countTokens} from './count-tokens.ts';
import {LETTER_RANGES, NUMBER_RANGES} from './unicode-ranges.data.ts';

const SCRIPTS = [
  [0x20, 0x7e],
  [0x00, 0x1f],
  [0xa0, 0x24f],
  [0x400, 0x4ff],
  [0x590, 0x6ff],
  [0x900, 0x97f],
  [0xe00, 0xe7f],
  [0x2000, 0x206f],
  [0x2150, 0x24ff],
  [0x3000, 0x30ff],
  [0x4e00, 0x9fff],
  [0xac00, 0xd7a3],
  [0xd800, 0xdfff],
  [0xfe00, 0xffef],
  [0x10000, 0x10fff],
  [0x1d400, 0x1d7ff],
  [0x1f300, 0x1faff],
  [0x20000, 0x2a6df],
  [0xe0000, 0xe007f],
] as const;

const character = fc
  .constantFrom(...SCRIPTS)
  .chain(([low, high]) => fc.integer({min: low, max: high}))
  .map(codePoint => String.fromCodePoint(codePoint));

const fragment = fc.oneof(
  character,
  fc.tuple(character, fc.integer({min: 2, max: 150})).map(([text, times]) => text.repeat(times)),
  fc.string({unit: fc.constantFrom(...'etaoinshrdlu'), maxLength: 12}),
  fc.constantFrom(
    "'s",
    "'RE",
    "'ve",
    "'LL",
    "'ſ",
    "'",
    ' ',
    '  ',
    '\n',
    '\r\n',
    '\n\n',
    ' \n ',
    '\t',
    '\u3000',
  ),
  fc.constantFrom(
    '\u00a0',
    '\u0085',
    '\u2028',
    '\ufeff',
    '\ud83d',
    '\udc00',
    '1234567',
    '٣٤٥',
    '½',
    '😀',
    '👩‍👧',
  ),
  fc.constantFrom(
    ' the',
    ' Hello',
    '();\n',
    '});\n\n',
    '====',
    '...',
    '<|endoftext|>',
    '<|fim_prefix|>',
    '中文。',
  ),
);

describe('ruling E1: token_count is exactly cl100k_base', () => {
  test('any text counts as in the reference implementation', {tags: 'slow'}, () => {
    const texts = fc.array(fragment, {maxLength: 30}).map(parts => parts.join(''));
    fc.assert(
      fc.property(texts, text => {
        expect(countTokens(text)).toBe(oracleCount(text));
      }),
      {numRuns: 3000},
    );
  });

  test('letters and numbers are those of Unicode 16, whatever version Node.js has', () => {
    for (const ranges of [LETTER_RANGES, NUMBER_RANGES]) {
      let at = 0;
      for (const length of ranges.trim().split(/\s/)) {
        at += Number.parseInt(length, 36);
        for (const codePoint of [at - 1, at]) {
          if (codePoint >= 0xd800 && codePoint < 0xe000) continue;
          const edge = String.fromCodePoint(codePoint);
          const text = `${edge}&amp ${edge}'s ${edge}1234 ${edge}the`;
          expect([codePoint, countTokens(text)]).toEqual([codePoint, oracleCount(text)]);
        }
      }
    }
  });

  test('special tokens are ordinary text', () => {
    expect(countTokens('<|endoftext|>')).toBe(oracleCount('<|endoftext|>'));
    expect(countTokens('<|endoftext|>')).toBeGreaterThan(1);
  });

  test('a lone surrogate counts as U+FFFD', () => {
    expect(countTokens('a\ud800b')).toBe(countTokens('a\ufffdb'));
  });

  test('the empty text has no tokens', () => {
    expect(countTokens('')).toBe(0);
  });

  test('a count is the same before and after the cache has been overrun', () => {
    const probe = 'Zymurgy quixotically jabberwocks';
    const before = countTokens(probe);
    for (let word = 0; word < 60_000; word++) countTokens(` q${word.toString(36)}z`);
    expect(countTokens(probe)).toBe(before);
    expect(before).toBe(oracleCount(probe));
  });
});

describe('ruling E1: a long run of anything is counted in n log n', () => {
  const UNITS = 1 << 18;
  // What is quadratic needs a minute for the first of these; the ceiling only has to tell the two apart.
  test.each([
    ['a', 32_768],
    [' ', undefined],
    ['\n', undefined],
    ['-', undefined],
    ["'", undefined],
    ['的', undefined],
    ['😀', undefined],
    ['\ud800', undefined],
    ['qzxj', undefined],
  ])('%j, repeated', {tags: 'slow'}, (unit, expected) => {
    const started = performance.now();
    const count = countTokens(unit.repeat(UNITS / unit.length));
    expect(performance.now() - started).toBeLessThan(5000);
    expect(count).toBeGreaterThan(0);
    if (expected !== undefined) expect(count).toBe(expected);
  });
});
