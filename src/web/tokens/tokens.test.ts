import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import fc from 'fast-check';
import {afterAll, describe, expect, test} from 'vitest';
import {oracleCount, publishedTokens} from '../../../test/support/cl100k-oracle.ts';
import {countTokens} from './count-tokens.ts';
import {pieceEnd} from './pretokenize.ts';
import {LETTER_RANGES, NUMBER_RANGES} from './unicode-ranges.data.ts';
import {NO_RANK, readVocabulary, vocabulary} from './vocabulary.ts';

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

// The published pattern, in JavaScript's words. ſ stands for what (?i) adds to s, and the classes are
// written so that they mean the same to every version of Node.js over the alphabet below.
const PATTERN =
  /'(?:[sSſ]|[tT]|[rR][eE]|[vV][eE]|[mM]|[lL][lL]|[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\p{White_Space}\p{L}\p{N}]+[\r\n]*|\p{White_Space}*[\r\n]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;

function pieces(text: string): string[] {
  const units = new Uint16Array(text.length);
  for (let at = 0; at < text.length; at++) units[at] = text.charCodeAt(at);
  const found: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = pieceEnd(units, start, text.length);
    found.push(text.slice(start, end));
    start = end;
  }
  return found;
}

test('pieces are the matches of the cl100k_base pattern', () => {
  const alphabet = [..."'sSſtTrReEvVmMlLdDxя的١¹½𝔸𝟘😀 \t\u00a0\u0085\u2028\u3000\ufeff\r\n.,!-7", '\u0301'];
  const texts = fc.string({unit: fc.constantFrom(...alphabet), maxLength: 24});
  fc.assert(
    fc.property(texts, text => {
      expect(pieces(text)).toEqual(text.match(PATTERN) ?? []);
    }),
    {numRuns: 5000},
  );
});

test.each([
  ["I'll've", ['I', "'ll", "'ve"]],
  ["it'ſo", ['it', "'ſ", 'o']],
  ['a  b', ['a', ' ', ' b']],
  ['a \n\n  b', ['a', ' \n\n', ' ', ' b']],
  ['x.\r\n\r\ny', ['x', '.\r\n\r\n', 'y']],
  ['12345', ['123', '45']],
  ['\ufeffa', ['\ufeffa']],
  ['end  ', ['end', '  ']],
])('%j is cut into %j', (text, expected) => {
  expect(pieces(text)).toEqual(expected);
});

describe('vocabulary', () => {
  const folder = mkdtempSync(join(tmpdir(), 'forge-vocabulary-'));
  afterAll(() => rmSync(folder, {recursive: true}));

  test('every published token has its published rank', () => {
    const words = vocabulary();
    const tokens = publishedTokens();
    expect(tokens.length).toBe(100_256);
    const wrong = tokens.filter((token, rank) => words.rankOf(token, 0, token.length) !== rank);
    expect(wrong).toEqual([]);
  });

  test('what is no token has no rank', () => {
    const words = vocabulary();
    const text = Buffer.from('no token spells this');
    expect(words.rankOf(text, 0, text.length)).toBe(NO_RANK);
    expect(words.rankOf(new Uint8Array(500), 0, 500)).toBe(NO_RANK);
  });

  test('a missing file says that the build makes it', () => {
    const missing = pathToFileURL(join(folder, 'missing.bin'));
    expect(() => readVocabulary(missing)).toThrow(/missing\.bin.*npm run build/);
  });

  test.each([
    ['one flipped bit', (file: Uint8Array) => file.with(1_500_000, (file[1_500_000] ?? 0) ^ 1)],
    ['a cut end', (file: Uint8Array) => file.subarray(0, 1_000_000)],
    ['another version', (file: Uint8Array) => file.with(3, 0x32)],
    ['an empty file', () => new Uint8Array()],
  ])('a damaged file is refused: %s', (name, damage) => {
    const path = join(folder, `${name.replaceAll(' ', '-')}.bin`);
    const intact = readFileSync(new URL('../../../vocabulary/cl100k_base.bin', import.meta.url));
    writeFileSync(path, damage(new Uint8Array(intact)));
    expect(() => readVocabulary(pathToFileURL(path))).toThrow(/damaged or of another version.*npm run build/);
  });
});
