import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {countTokens} from '../tokens/count-tokens.ts';
import type {BlockKind} from './blocks.ts';
import {LONGEST_TOKEN} from './limit.ts';
import {chunkMarkdown} from './plan-chunks.ts';
import {longestPrefix, piecesOf, splitBlock} from './split-block.ts';

const textsOf = (markdown: string, maxTokens: number) =>
  chunkMarkdown(markdown, maxTokens, countTokens).map(({text}) => text);
const words = (count: number) => Array.from({length: count}, () => 'word').join(' ');

describe('T-WF-CHK-07 an oversized list is split at item boundaries', () => {
  test('T-WF-CHK-07 items stay whole', () => {
    const items = Array.from({length: 12}, (_, index) => `- item ${index} has a few. words in it`);
    const pieces = textsOf(items.join('\n'), 40);
    expect(pieces.length).toBeGreaterThan(2);
    expect(pieces.flatMap(piece => piece.split('\n'))).toEqual(items);
  });

  test('T-WF-CHK-07 an item that fits is not parted from its nested items', () => {
    const item = `- ${words(6)}\n  - ${words(6)}\n    - ${words(6)}`;
    expect(textsOf([item, item, item].join('\n'), 40)).toEqual([item, item, item]);
  });

  test('T-WF-CHK-07 an item that does not fit is parted at its nested items first', () => {
    const nested = [`- ${words(6)}`, ...Array.from({length: 4}, () => `  - ${words(6)}. And more.`)];
    expect(textsOf(nested.join('\n'), 16)).toEqual(nested);
  });

  test('T-WF-CHK-07 only a single item above the limit is cut at sentences and white space', () => {
    const large = `- ${words(12)}. ${words(12)}`;
    expect(textsOf(`- a\n${large}\n- b`, 16)).toEqual(['- a', `- ${words(12)}.`, `${words(12)}\n- b`]);
  });

  test('T-WF-CHK-07 code in an item is cut between lines only', () => {
    const lines = Array.from({length: 10}, (_, index) => `  const value${index} = compute. it(${index});`);
    const pieces = textsOf(`- a\n  \`\`\`js\n${lines.join('\n')}\n  \`\`\``, 40);
    expect(pieces.length).toBeGreaterThan(2);
    expect(pieces.join('\n')).toBe(`- a\n  \`\`\`js\n${lines.join('\n')}\n  \`\`\``);
  });
});

describe('FR-WF-CHK-CODE-01 code is atomic', () => {
  const line = 'const a = 1. + b; // comment';

  test('a fence that fits is not parted', () => {
    const fence = `\`\`\`\n${line}\n\n${line}\n\`\`\``;
    expect(textsOf(`${words(20)}\n\n${fence}`, 30)).toEqual([words(20), fence]);
  });

  test('ruling E4: an oversized fence is cut between lines, as slices', () => {
    const fence = ['```js', ...Array.from({length: 9}, () => `  ${line}`), '```'];
    const pieces = textsOf(fence.join('\n'), 30);
    expect(pieces.length).toBeGreaterThan(3);
    expect(pieces.join('\n')).toBe(fence.join('\n'));
  });

  test('ruling E4: a line above the limit stays one oversized piece', () => {
    const long = Array.from({length: 60}, () => 'x y').join(';');
    expect(textsOf(`~~~\n${line}\n${long}\n${line}\n~~~`, 30)).toEqual([
      `~~~\n${line}`,
      long,
      `${line}\n~~~`,
    ]);
  });

  test('blank lines vanish at a cut and stay elsewhere', () => {
    expect(textsOf(`\`\`\`\n${line}\n\n\n${line}\n\n${line}\n\`\`\``, 25)).toEqual([
      `\`\`\`\n${line}\n\n\n${line}`,
      `${line}\n\`\`\``,
    ]);
  });
});

test('T-WF-CHK-02 a word that has to be cut loses its indentation, and its first piece is as large as fits', () => {
  const word = 'x'.repeat(400);
  expect(textsOf(`   ${word}`, 16)).toEqual(textsOf(word, 16));
});

const nested = `- one\n${'  - two words and more\n'.repeat(30)}${'    - deep\n'.repeat(60)}`;

test.each([
  ['a', 2.2],
  ['的', 2.2],
  // Of these, a token spells many.
  ['-', 4],
])('policy: a long word of %s is never counted whole, and in all no more than %i times', (letter, times) => {
  const counted: number[] = [];
  const markdown = letter.repeat(40_000);
  chunkMarkdown(markdown, 100, text => {
    counted.push(text.length);
    return countTokens(text);
  });
  expect(Math.max(...counted)).toBeLessThan(128 * 100);
  expect(counted.reduce((sum, units) => sum + units, 0) / markdown.length).toBeLessThan(times);
});

test.each([
  // Its beginning to see that the block is too large, and once as sentences.
  ['sentences', 'It rains. The river rises in the hills! '.repeat(400), 1.2],
  // And once more to see which items are too large.
  ['items that are looked at again behind a better cut', nested.repeat(20), 2.2],
])('what was counted is not counted again: %s', (_, markdown, times) => {
  let units = 0;
  chunkMarkdown(markdown, 300, text => {
    units += text.length;
    return countTokens(text);
  });
  expect(units / markdown.length).toBeLessThan(times);
});

test('FR-WF-15b a part that was counted to see whether it fits is not counted again', () => {
  const items = [
    'one of the shorter items',
    `a longer one. ${'It has sentences. '.repeat(20)}`,
    'and a last item',
  ];
  const counted: string[] = [];
  const count = (text: string): number => {
    counted.push(text);
    return countTokens(text);
  };
  const text = items.map(item => `- ${item.trim()}`).join('\n');
  splitBlock({kind: 'list', text, start: 0}, {maxTokens: 40, countTokens: count});
  // What is short is counted faster than it is looked up.
  const parts = counted.filter(part => part.length > 16 && part.trimEnd() === part && part.startsWith('- '));
  expect(parts.length).toBeGreaterThan(2);
  expect(new Set(parts).size).toBe(parts.length);
});

type Row = readonly [title: string, most: number, text: string, expected: readonly string[]];

/**
 * The pieces of a block where so many characters fit. Each is shown with how good a cut behind it is, `!` where it
 * is never cut, and its text between ‹ and ›, with the white space that goes at a cut around it.
 */
function shown(kind: BlockKind, text: string, most: number): string[] {
  const pieces = piecesOf({kind, text, start: 0}, most, (start, end) => end - start);
  // They tile the block.
  expect([0, ...pieces.map(({nextStart}) => nextStart)]).toEqual([
    ...pieces.map(({from}) => from),
    text.length,
  ]);
  return pieces.map(({from, start, end, nextStart, cutQuality, whole}) => {
    const cut = `${text.slice(from, start)}‹${text.slice(start, end)}›${text.slice(end, nextStart)}`;
    return `${cutQuality}${whole ? '!' : ' '}${cut}`;
  });
}

describe('FR-WF-CHK-LIST-02 the pieces of a list', () => {
  test.each<Row>(
    // biome-ignore format: a case is a line
    [
      ['items that fit stay whole', 100, '- a\n- b', ['0 ‹- a›\n', '0 ‹- b›']],
      [
        'an item of another level ranks by its own indentation: up to one blank, up to three, and more',
        12,
        '- one\n - two\n  - three\n   - four\n    - five\n     - six\n- seven',
        [
          '0 ‹- one›\n',
          '1 ‹ - two›\n',
          '1 ‹  - three›\n',
          '2 ‹   - four›\n',
          '2 ‹    - five›\n',
          '0 ‹     - six›\n',
          '0 ‹- seven›',
        ],
      ],
      ['an item that does not fit is parted between sentences, and a sentence that does not between words', 12, '- one two. three four five\n- six', ['3 ‹- one two.›', '4  ‹three›', '4  ‹four›', '0  ‹five›\n', '0 ‹- six›']],
      ['a marker stays with its first word', 8, '- one two three. four', ['4 ‹- one›', '4  ‹two›', '3  ‹three.›', '0  ‹four›']],
      ['an item ends a fence of the item before it', 30, '- a\n  ```\n- b\n  ```\n- c', ['0 ‹- a\n  ```›\n', '0 ‹- b\n  ```›\n', '0 ‹- c›']],
      ['a marker inside a fence starts no item', 20, '- a\n  ```\n  - b\n  ```\n- c c c c c c c\n- d', ['3 ‹- a›\n', '0!‹  ```\n  - b\n  ```›\n', '0 ‹- c c c c c c c›\n', '0 ‹- d›']],
      ['a fence that does not fit is parted between lines', 12, '- some text.\n  ```\n  - code 1\n  - code 2\n  ```', ['3 ‹- some text.›\n', '3!‹  ```›\n', '3!‹  - code 1›\n', '3!‹  - code 2›\n', '0!‹  ```›']],
      [
      'text before and behind a fence is parted by itself, and a fence that fits stays whole',
      40,
      '- some text that is long, so long. And more.\n  ```\n  code\n  ```\n  after it comes text.\n- z',
      [
        '3 ‹- some text that is long, so long.›',
        '3  ‹And more.›\n',
        '3!‹  ```\n  code\n  ```›\n',
        '0 ‹  after it comes text.›\n',
        '0 ‹- z›',
      ],
    ],
      ['a fence at the marker that does not fit', 10, '- ```\n  one line\n  two\n  ```\n- z', ['3!‹- ```›\n', '3!‹  one line›\n', '3!‹  two›\n', '0!‹  ```›\n', '0 ‹- z›']],
      ['a fence at the marker that fits, and text behind it', 18, '- ```\n  one\n  ```\n  then some words\n- z', ['3!‹- ```\n  one\n  ```›\n', '0 ‹  then some words›\n', '0 ‹- z›']],
      ['a fence that nobody closes, at the end', 12, '- a b\n  ```\n  one line\n  two', ['3 ‹- a b›\n', '3!‹  ```›\n', '3!‹  one line›\n', '0!‹  two›']],
      ['a fence that nobody closes, before an item', 14, '- a b\n  ```\n  one line\n  two\n- next', ['3 ‹- a b›\n', '3!‹  ```›\n', '3!‹  one line›\n', '0!‹  two›\n', '0 ‹- next›']],
      ['blank lines behind a fence go with it', 14, '- a b\n  ```\n  code\n  ```\n\n\n- next one', ['3 ‹- a b›\n', '3!‹  ```›\n', '3!‹  code›\n', '0!‹  ```›\n\n\n', '0 ‹- next one›']],
      ['blank lines belong to the item before them', 6, '- a b c\n\n- next', ['4 ‹- a›', '4  ‹b›', '0  ‹c›\n\n', '0 ‹- next›']],
      ['four blanks are deeper than two', 8, '- one two\n    - three four\n- five', ['4 ‹- one›', '2  ‹two›\n', '4 ‹    - three›', '0  ‹four›\n', '0 ‹- five›']],
      ['two blanks are a nested item', 8, '- one two\n  - three four\n- five', ['4 ‹- one›', '1  ‹two›\n', '4 ‹  - three›', '0  ‹four›\n', '0 ‹- five›']],
      ['text between two fences', 12, '- a\n  ```\n  one\n  ```\n  some text. More\n  ```\n  two\n  ```\n- z', ['3 ‹- a›\n', '3!‹  ```›\n', '3!‹  one›\n', '3!‹  ```›\n', '3 ‹  some text.›', '3  ‹More›\n', '3!‹  ```›\n', '3!‹  two›\n', '0!‹  ```›\n', '0 ‹- z›']],
      ['a fence is closed by as many marks', 12, '- a\n  ````\n  ```\n  one\n  ````\n  two\n- z', ['3 ‹- a›\n', '3!‹  ````›\n', '3!‹  ```›\n', '3!‹  one›\n', '3!‹  ````›\n', '0 ‹  two›\n', '0 ‹- z›']],
      ['a number stays with its first word', 9, '12) one two three\n13) x', ['4 ‹12) one›', '4  ‹two›', '0  ‹three›\n', '0 ‹13) x›']],
      ['a marker without text is an item', 9, '- \n- x', ['0 ‹-› \n', '0 ‹- x›']],
      ['an item that does not fit ends where the next one begins with code', 8, '- a b c d\n- ```\n  x\n  ```', ['4 ‹- a›', '4  ‹b›', '4  ‹c›', '0  ‹d›\n', '3!‹- ```›\n', '3!‹  x›\n', '0!‹  ```›']],
      ['a blank line does not end a fence', 25, '- a\n  ```\n\n  - b\n  ```\n- c', ['0 ‹- a\n  ```\n\n  - b\n  ```›\n', '0 ‹- c›']],
      ['a marker without text is not lost where nothing fits', 0, '- \n- x', ['0 ‹-› \n', '0 ‹- x›']],
      ['a closed fence is over: a nested item behind it is one', 20, '- a\n  ```\n  x\n  ```\n  - b\n- c', ['1 ‹- a\n  ```\n  x\n  ```›\n', '0 ‹  - b›\n', '0 ‹- c›']],
      [
      'the first word behind a fence is no marker',
      8,
      '- ```\n  x\n  ```\n  then some words\n  ~~~\n  y\n  ~~~\n  and more of it',
      [
        '3!‹- ```›\n',
        '3!‹  x›\n',
        '3!‹  ```›\n',
        '4 ‹  then›',
        '4  ‹some›',
        '3  ‹words›\n',
        '3!‹  ~~~›\n',
        '3!‹  y›\n',
        '3!‹  ~~~›\n',
        '4 ‹  and›',
        '4  ‹more›',
        '4  ‹of›',
        '0  ‹it›',
      ],
    ],
      ['a fence right behind another', 12, '- a\n  ```\n  one\n  ```\n  ~~~\n  two\n  ~~~\n- z', ['3 ‹- a›\n', '3!‹  ```›\n', '3!‹  one›\n', '3!‹  ```›\n', '3!‹  ~~~›\n', '3!‹  two›\n', '0!‹  ~~~›\n', '0 ‹- z›']],
    ],
  )('FR-WF-CHK-LIST-02 the pieces of a list: %s', (_, most, text, expected) => {
    expect(shown('list', text, most)).toEqual(expected);
  });
});

describe('FR-WF-CHK-CODE-01 the pieces of code', () => {
  test.each<Row>([
    ['a single line', 3, '```js', ['3!‹```js›']],
    [
      'blank lines go with the line before them',
      5,
      '```\na\n\n\nb  \n  \n  c\n```',
      ['3!‹```›\n', '3!‹a›\n\n\n', '3!‹b›  \n  \n', '3!‹  c›\n', '3!‹```›'],
    ],
  ])('FR-WF-CHK-CODE-01 the pieces of code: %s', (_, most, text, expected) => {
    expect(shown('code', text, most)).toEqual(expected);
  });
});

describe('FR-WF-15b the pieces of text', () => {
  test.each<Row>(
    // biome-ignore format: a case is a line
    [
      ['a word of one letter between two lines', 3, 'one\n a\nb', ['4 ‹one›\n', '4  ‹a›\n', '4 ‹b›']],
      ['sentences end with a stop, an exclamation or a question mark', 12, 'One two. Three! Four? five', ['3 ‹One two.›', '3  ‹Three!›', '3  ‹Four?›', '4  ‹five›']],
      ['a sentence that does not fit is parted between words', 8, 'One two three. Four.', ['4 ‹One›', '4  ‹two›', '3  ‹three.›', '4  ‹Four.›']],
      ['a line keeps its indentation where the cut is at its start', 8, 'one two\n  three\n four.\nfive six', ['4 ‹one›', '4  ‹two›\n', '4   ‹three›\n', '3  ‹four.›\n', '4 ‹five six›']],
      ['the first word keeps its indentation', 8, '  one two three', ['4 ‹  one›', '4  ‹two›', '4  ‹three›']],
      ['a sentence may end at the end of a line', 8, 'one two.\n  three four\n\tfive', ['3 ‹one two.›\n', '4   ‹three›', '4  ‹four›\n', '4 \t‹five›']],
      ['blanks before a line break stay with the word behind them', 8, 'one two \nthree', ['4 ‹one›', '4  ‹two›', '4  \n‹three›']],
      ['no other mark ends a sentence, and none inside a word', 3, 'a. b! c? d.e f; g', ['3 ‹a.›', '3  ‹b!›', '3  ‹c?›', '4  ‹d.e›', '4  ‹f;›', '4  ‹g›']],
      ['a word is never parted', 3, 'alphabet', ['4 ‹alphabet›']],
    ],
  )('FR-WF-15b the pieces of text: %s', (_, most, text, expected) => {
    expect(shown('text', text, most)).toEqual(expected);
  });
});

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
