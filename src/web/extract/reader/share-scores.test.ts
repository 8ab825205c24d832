import {expect, test} from 'vitest';
import {readBlocks} from './blocks/read-blocks.ts';
import {readingTree} from './reading-tree.ts';
import {shareScores} from './share-scores.ts';

function shared(html: string, scores: readonly number[]): readonly number[] {
  const page = readBlocks(readingTree(html));
  expect(page.blocks.units).toHaveLength(scores.length);
  return [...shareScores(page, Float64Array.from(scores))];
}

test('R2: of four blocks with one path each has six tenths of its score from the mean', () => {
  expect(shared('<p>a<p>b<p>c<p>d', [10, 10, 10, -10])).toEqual([7, 7, 7, -1]);
  expect(shared('<p>a<p>b<p>c<p class="x">d', [10, 10, 10, -10])).toEqual([10, 10, 10, -10]);
  expect(shared('<p>a<p>b<p>c', [10, 10, -10])).toEqual([10, 10, -10]);
});

test('R2: in the mean a block weighs by its words, thirty at most', () => {
  const words = 'word '.repeat(40);
  expect(shared(`<p>a<p>b<p>c<p>${words}`, [37, 0, 0, 0])).toEqual(
    [16, 1.2, 1.2, 1.2].map(x => expect.closeTo(x, 9)),
  );
});

test('R2: hidden blocks and pictures neither give nor take', () => {
  const html = '<p>a<p>b<p>c<p><img src="/a.png"><p hidden>d<p hidden>e<p hidden>f<p hidden>g';
  const scores = [10, 10, -10, 0, -9, 9, -9, 9];
  expect(shared(html, scores)).toEqual(scores);
});

test('R2: a list has one score', () => {
  const html = '<p>a</p><ul><li>b</li><li>c</li></ul><p>d</p><p>e</p>';
  expect(shared(html, [8, 4, -2, 8, 8])).toEqual([8, 1, 1, 8, 8]);
});
