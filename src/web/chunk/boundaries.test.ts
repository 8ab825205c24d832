import {describe, expect, test} from 'vitest';
import {countTokens} from '../tokens/count-tokens.ts';
import {blocksOf} from './blocks.ts';
import {chunkMarkdown} from './chunk-markdown.ts';

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
