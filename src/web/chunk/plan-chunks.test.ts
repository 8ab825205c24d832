import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {countTokens} from '../tokens/count-tokens.ts';
import {BlockReader, blocksOf} from './blocks.ts';
import {chunkMarkdown} from './chunk-markdown.ts';
import {ChunkPlanner, chunksOf, planChunks} from './plan-chunks.ts';
import {countedUnits} from './token-counter.ts';

const line = fc.constantFrom(
  ...['# Title', 'Some words. More of them!', '- item', '  - nested', '```', '| a | b |', '', '', ' ', '...'],
  ...['中文字符。', 'x'.repeat(90), 'one line\rand another', ');', '\u3000indented', 'tail \t'],
);
const documents = fc.array(line, {maxLength: 60}).map(lines => lines.join('\n'));
const limits = fc.integer({min: 4, max: 80});

describe('FR-WF-CCH-CONTENT-01 counts of a document', () => {
  test('make the same chunks as counting anew, whatever limit they were made for', () => {
    fc.assert(
      fc.property(documents, limits, limits, (markdown, before, now) => {
        const {counts} = planChunks(markdown, {maxTokens: before, countTokens});
        const {chunks} = planChunks(markdown, {maxTokens: now, countTokens}, counts);
        expect(chunksOf(markdown, chunks)).toEqual(chunkMarkdown(markdown, now, countTokens));
      }),
      {numRuns: 500},
    );
  });

  test('spare the counting of all but the shortest stretches', () => {
    const table = '| the first cell | the second cell |\n'.repeat(100);
    const list = '- an item. Of two sentences\n'.repeat(100);
    const code = `\`\`\`js\n${'const name = value(12);\n'.repeat(60)}\`\`\``;
    const markdown = `${'A paragraph of some words.\n\n## Heading\n\n'.repeat(50)}${table}\n${list}\n\n${code}\n`;
    const {counts} = planChunks(markdown, {maxTokens: 128, countTokens});
    const refuse = (text: string): number => {
      if (text.length >= 16) throw new Error(`Counted again: ${text}`);
      return countTokens(text);
    };
    const again = planChunks(markdown, {maxTokens: 128, countTokens: refuse}, counts);
    expect(again.counts).toEqual(counts);
    expect(chunksOf(markdown, again.chunks)).toEqual(chunkMarkdown(markdown, 128, countTokens));
  });

  test('of other blocks than the document has are not used', () => {
    const markdown = 'one of the blocks\n\nanother of the blocks\n\nthree';
    const wrong = Int32Array.of(0, 20, 99, 99, 5, 17, 99, 99);
    const {chunks} = planChunks(markdown, {maxTokens: 128, countTokens}, wrong);
    expect(chunksOf(markdown, chunks)).toEqual(chunkMarkdown(markdown, 128, countTokens));
  });
});

test('ruling E2 a chunk is one part of the document where a blank line is all that stands between its blocks', () => {
  const {chunks} = planChunks('a\n\nb\n\n\nc  \n\nd\n# e', {maxTokens: 128, countTokens});
  expect(chunks.map(({parts}) => parts)).toEqual([[0, 4, 7, 8, 12, 13, 14, 17]]);
});

test('ruling E2 a document may begin with what would separate two blocks', () => {
  const {chunks} = planChunks('\n\na\n\nb', {maxTokens: 128, countTokens});
  expect(chunks.map(({parts}) => parts)).toEqual([[2, 6]]);
});

test('what needs no counting is what the chunks consist of, not what is too large for one', () => {
  const paragraph = 'A paragraph of some words.';
  const word = 'x'.repeat(5000);
  const {counts} = planChunks(`${paragraph}\n\n${word}\n\n${paragraph}`, {maxTokens: 32, countTokens});
  expect(countedUnits(counts, 32)).toBe(2 * paragraph.length);
  const list = '- an item. Of two sentences\n'.repeat(100);
  const listed = planChunks(list, {maxTokens: 32, countTokens}).counts;
  expect(countedUnits(listed, 32)).toBeGreaterThan(0.9 * list.length);
  expect(countedUnits(listed, 32)).toBeLessThanOrEqual(list.length);
});

/** A text, cut at places that are shares of its length. */
function cut(text: string, shares: readonly number[]): readonly string[] {
  const places = [...shares.map(share => Math.floor(share * text.length)), text.length].sort((a, b) => a - b);
  return places.map((place, index) => text.slice(places[index - 1] ?? 0, place));
}

const shares = fc.array(fc.double({min: 0, max: 1, noNaN: true}), {maxLength: 12});

test('FR-WF-15 a document that comes in parts has the same blocks and chunks', () => {
  fc.assert(
    fc.property(documents, shares, limits, (markdown, places, maxTokens) => {
      const text = markdown.replaceAll('\r', '\n');
      const parts = cut(text, places);
      const reader = new BlockReader();
      const blocks = parts.flatMap(part => reader.read(part));
      expect([...blocks, ...reader.finish()]).toEqual(blocksOf(text));
      const planner = new ChunkPlanner({maxTokens, countTokens});
      for (const part of parts) planner.add(part);
      expect(planner.finish()).toEqual(planChunks(text, {maxTokens, countTokens}));
    }),
    {numRuns: 500},
  );
});
