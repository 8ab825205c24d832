import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {countTokens} from '../tokens/count-tokens.ts';
import {type Block, blocksOf, contentEnd, contentStart, isWhiteSpace} from './blocks.ts';
import {countUpTo, LONGEST_TOKEN, tokensAdded} from './limit.ts';
import {chunkMarkdown} from './plan-chunks.ts';

type Found = Omit<Block, 'start'>;

/** Blocks without their places, once these were seen to be right. */
function foundIn(markdown: string): Found[] {
  return blocksOf(markdown).map(({start, ...block}) => {
    expect(markdown.slice(start, start + block.text.length)).toBe(block.text);
    return block;
  });
}

const text = (value: string, heading?: string): Found =>
  heading === undefined ? {kind: 'text', text: value} : {kind: 'text', text: value, heading};
const list = (value: string): Found => ({kind: 'list', text: value});
const code = (value: string): Found => ({kind: 'code', text: value});

describe('FR-WF-15 block detection', () => {
  test.each<[string, string, Found[]]>([
    ['blank lines separate paragraphs', 'a\nb\n \t\n\n\nc\n', [text('a\nb'), text('c')]],
    ['a heading starts a block', 'a\n# B\nc', [text('a'), text('# B\nc', 'B')]],
    ['blanks behind a heading are no part of it', '# A \t\nb', [text('# A \t\nb', 'A')]],
    ['seven marks are no heading', '####### a', [text('####### a')]],
    ['a mark needs white space behind it', '#a', [text('#a')]],
    ['ruling E5: a heading without text names nothing', 'a\n#\n\nb', [text('a'), text('#'), text('b')]],
    ['ruling E5: inline markup stays in a heading', '## *a* `b`  ', [text('## *a* `b`', '*a* `b`')]],
    ['U+FEFF is no white space', '\ufeff\n\na', [text('\ufeff'), text('a')]],
  ])('%s', (_, markdown, expected) => {
    expect(foundIn(markdown)).toEqual(expected);
  });
});

describe('FR-WF-CHK-CODE-01 fences', () => {
  test.each<[string, string, Found[]]>([
    [
      'hold blank lines, headings and items',
      '```js\na\n\n# b\n- c\n```\nd',
      [code('```js\na\n\n# b\n- c\n```'), text('d')],
    ],
    ['close with as many marks at least', '````\n```\na\n`````\nb', [code('````\n```\na\n`````'), text('b')]],
    ['close with the same mark only', '~~~\n```\na\n~~~', [code('~~~\n```\na\n~~~')]],
    ['do not close on a line with an info string', '```\n```js\n```', [code('```\n```js\n```')]],
    ['run to the end where they are not closed', 'a\n\n```\nb\n\nc\n\n', [text('a'), code('```\nb\n\nc')]],
    ['interrupt a paragraph', 'a\n```\nb\n```', [text('a'), code('```\nb\n```')]],
    ['have no backtick in their info string', '```a```\nb', [text('```a```\nb')]],
    ['may be indented by three blanks', '   ```\na\n\nb\n```', [code('   ```\na\n\nb\n```')]],
    ['have three tildes at least', '~~a\n\n~b', [text('~~a'), text('~b')]],
    ['end their block', '```\na\n```\n```\nb\n```', [code('```\na\n```'), code('```\nb\n```')]],
    ['are indented by three blanks at most', '    ```\na\n\nb', [text('    ```\na'), text('b')]],
  ])('%s', (_, markdown, expected) => {
    expect(foundIn(markdown)).toEqual(expected);
  });
});

describe('FR-WF-CHK-LIST-01 lists', () => {
  test.each<[string, string, Found[]]>(
    // biome-ignore format: a case is a line
    [
      ['nested items are part of the block', '- a\n  - b\n      - c\n1) d', [list('- a\n  - b\n      - c\n1) d')]],
      ['indented lines continue an item', '- a\n  b\n\tc\nd', [list('- a\n  b\n\tc'), text('d')]],
      ['blank lines between items do not end it', '- a\n\n- b\n\nc', [list('- a\n\n- b'), text('c')]],
      ['an indented line behind a blank one ends it', '- a\n\n  b', [list('- a'), text('  b')]],
      ['an item interrupts a paragraph', 'a\n- b\n  c\nd', [text('a'), list('- b\n  c'), text('d')]],
      ['a paragraph is no item', 'a\n  b\n\n  c', [text('a\n  b'), text('  c')]],
      ['an item behind code is a list', '```\na\n```\n- b', [code('```\na\n```'), list('- b')]],
      ['a deep item behind a blank line continues it', '- a\n\n      - b', [list('- a\n\n      - b')]],
      ['a paragraph ends it for good', '- a\n\nb\n\n    - c', [list('- a'), text('b'), text('    - c')]],
      ['a paragraph begins none', 'a\n\n    - b', [text('a'), text('    - b')]],
      ['an unclosed fence at a marker ends with its item', '- ```\n  b\nc', [list('- ```\n  b'), text('c')]],
      ['blanks within a line do not indent it', '- a\nb  c', [list('- a'), text('b  c')]],
      ['a marker within a line is none', '- a\n\n\u3000b - c', [list('- a'), text('\u3000b - c')]],
      ['a fence behind a dash within a line is none', '- a\n  b - ```\n\nc', [list('- a\n  b - ```'), text('c')]],
      ['a fence may follow the marker of a nested item', '- a\n  - ```\n\n    # b\n    ```\n- c', [list('- a\n  - ```\n\n    # b\n    ```\n- c')]],
      ['a fence may follow a marker of nine digits', '123456789. ```\n\n  # a\n  ```', [list('123456789. ```\n\n  # a\n  ```')]],
      ['a heading ends it', '- a\n# b', [list('- a'), text('# b', 'b')]],
      ['a marker needs white space behind it', '-a\n1.b', [text('-a\n1.b')]],
      ['four blanks are too many outside a list', '    - a', [text('    - a')]],
      ['a fence in an item belongs to it', '- a\n  ```\n\n- b\n  ```\n- c', [list('- a\n  ```\n\n- b\n  ```\n- c')]],
      ['a fence may follow the marker', '- ```\n\n  # a\n  ```\n- b', [list('- ```\n\n  # a\n  ```\n- b')]],
      ['an unclosed fence ends with its item', '- a\n  ```\n  b\n\nc', [list('- a\n  ```\n  b'), text('c')]],
      ['a fence behind a blank line is as deep as its item', '- a\n  - b\n\n    ```\n    c\n\n    ```', [list('- a\n  - b'), code('    ```\n    c\n\n    ```')]],
    ],
  )('%s', (_, markdown, expected) => {
    expect(foundIn(markdown)).toEqual(expected);
  });
});

test('FR-WF-15 white space is what Unicode calls White_Space', () => {
  const units = Array.from({length: 0x1_0000}, (_, unit) => unit);
  const expected = units.filter(unit => /\p{White_Space}/u.test(String.fromCharCode(unit)));
  expect(units.filter(isWhiteSpace)).toEqual(expected);
});

test('FR-WF-15 content is looked for between the two places only', () => {
  const text = 'a  b  c';
  expect([contentStart(text, 1, 7), contentStart(text, 1, 3), contentStart(text, 1, 2)]).toEqual([3, 3, 2]);
  expect([contentEnd(text, 0, 6), contentEnd(text, 4, 6), contentEnd(text, 5, 6)]).toEqual([4, 4, 5]);
});

const kindsOf = (markdown: string): readonly string[] => blocksOf(markdown).map(({kind}) => kind);

describe('blocks: one below, at, and one above', () => {
  test.each([
    ['', ''],
    ['#', 'title'],
    ['##', 'title'],
    ['#####', 'title'],
    ['######', 'title'],
    ['#######', ''],
  ])('FR-WF-15 a heading has one to six signs and a blank: %j makes it %j', (signs, heading) => {
    expect(chunkMarkdown(`${signs} title\n\ntext\n`, 600, countTokens)[0]?.heading).toBe(heading);
    expect(chunkMarkdown(`${signs}title\n`, 600, countTokens)[0]?.heading).toBe('');
  });

  test.each([0, 1, 2, 3])('FR-WF-CHK-LIST-01 a marker has up to three blanks before it: %i', blanks => {
    for (const marker of ['-', '+', '*', '1.', '1)', '123456789.']) {
      expect([marker, kindsOf(`${' '.repeat(blanks)}${marker} item\n`)]).toEqual([marker, ['list']]);
    }
  });

  test('FR-WF-CHK-LIST-01 four blanks before a marker are no list, and no blank behind it is none', () => {
    for (const line of ['    - text', '    1. text', '-text', '1.text', '1 text']) {
      expect([line, kindsOf(`${line}\n`)]).toEqual([line, ['text']]);
    }
  });

  test.each([
    ['', 2],
    [' ', 2],
    ['  ', 1],
    ['   ', 1],
    ['\t', 1],
  ])('FR-WF-CHK-LIST-01 a heading after an item that is indented by %j makes %i blocks', (indent, blocks) => {
    expect(kindsOf(`- item\n${indent}# no heading of the document\n`)).toHaveLength(blocks);
  });

  test.each([
    ['``', 2],
    ['```', 1],
    ['````', 1],
  ])('FR-WF-CHK-CODE-01 %s around two paragraphs makes %i blocks', (fence, blocks) => {
    expect(kindsOf(`${fence}\none\n\ntwo\n${fence}\n`)).toHaveLength(blocks);
  });

  test.each([
    ['```', ['code']],
    ['````', ['code', 'text']],
    ['`````', ['code', 'text']],
  ])('FR-WF-CHK-CODE-01 a fence of four that %s may close, and a paragraph: %j', (closing, kinds) => {
    expect(kindsOf(`\`\`\`\`\ncode\n${closing}\n\ntext\n`)).toEqual(kinds);
  });
});

describe('FR-WF-15a a chunk has at most max_chunk_tokens: one below, at, and one above', () => {
  const two = 'alpha beta gamma\n\ndelta epsilon zeta';
  const tokens = countTokens(two);

  test.each([
    [-1, 2],
    [0, 1],
    [1, 1],
  ])('FR-WF-15a with %i tokens more than two paragraphs have, they are %i chunks', (more, chunks) => {
    expect(chunkMarkdown(`${two}\n`, tokens + more, countTokens)).toHaveLength(chunks);
  });
});

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
  expect(countUpTo('a'.repeat(2 * LONGEST_TOKEN + 1), limit)).toBe(3);
  expect(counted).toEqual([]);
  expect(countUpTo('a'.repeat(2 * LONGEST_TOKEN), limit)).toBe(1);
});

test('FR-WF-15a of a text that is most likely too long the beginning is counted first', () => {
  const {limit, counted} = counting(10);
  expect(countUpTo('word '.repeat(24), limit)).toBe(24);
  expect(countUpTo(`${'word '.repeat(24)}x`, limit)).toBe(13);
  expect(counted).toEqual([120, 64]);
});

test('FR-WF-15a where the beginning fits, the rest is counted behind it', () => {
  const {limit, counted} = counting(10);
  const long = `${'a'.repeat(64)} ${'b'.repeat(70)}`;
  expect(countUpTo(long, limit)).toBe(2);
  expect(counted).toEqual([64, 71]);
});

test('FR-WF-15a where the beginning has as many tokens as the limit, the rest decides', () => {
  const {limit} = counting(10);
  expect(countUpTo(`${'word5 '.repeat(10)}${' '.repeat(70)}`, limit)).toBe(10);
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
  countUpTo(text, limit);
  expect(counted).toEqual(expected);
});

test('ruling E2 a separator adds what the joined text has more, whatever it merges with', () => {
  const part = fc.constantFrom(
    ...['word', 'a', ');', '});', '...', '?!)', '|', "'", '`', '-'.repeat(9), '中', '1'],
    ...[' ', '  ', '\n', '\t', '\n  '],
  );
  const texts = fc.array(part, {minLength: 1, maxLength: 12}).map(parts => `${parts.join('')}x`.slice(0, -1));
  fc.assert(
    fc.property(
      texts,
      fc.constantFrom('.', ');', '...', 'a', '}}});', '?!'),
      fc.constantFrom('\n\n', '\n', ' '),
      (text, last, space) => {
        const whole = text + last;
        expect(tokensAdded(whole, space, countTokens)).toBe(countTokens(whole + space) - countTokens(whole));
      },
    ),
    {numRuns: 1000},
  );
});

test('policy: only the last word is counted for it', () => {
  const counted: string[] = [];
  const count = (text: string): number => counted.push(text);
  tokensAdded('one\ntwo three', '\n\n', count);
  tokensAdded('one two\nthree', '\n\n', count);
  tokensAdded('one  two', '\n\n', count);
  expect(counted).toEqual([' three\n\n', ' three', 'three\n\n', 'three', 'one  two\n\n', 'one  two']);
});
