import {expect, test} from 'vitest';
import {readBlocks} from './blocks/read-blocks.ts';
import {readingTree} from './reading-tree.ts';
import {shareScores} from './share-scores.ts';

function shared(html: string, scores: readonly number[]): readonly number[] {
  const page = readBlocks(readingTree(html));
  expect(page.blocks.units).toHaveLength(scores.length);
  return [...shareScores(page, Float64Array.from(scores))];
}

test('R2: a list has one score', () => {
  const html = '<p>a</p><ul><li>b</li><li>c</li></ul><p>d</p><p>e</p>';
  expect(shared(html, [8, 4, -2, 8, 8])).toEqual([8, 1, 1, 8, 8]);
});
