import {describe, expect, test} from 'vitest';
import {countTokens} from '../tokens/count-tokens.ts';
import {chunkMarkdown} from './chunk-markdown.ts';
import {splitBlock} from './split-block.ts';

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
