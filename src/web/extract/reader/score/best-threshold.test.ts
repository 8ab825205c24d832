import {expect, test} from 'vitest';
import {emptyPage} from '../blocks/page-blocks.ts';
import {bestThreshold} from './best-threshold.ts';
import {SCALE} from './block-score.ts';

/** The threshold, in odds, of blocks given as words and odds. */
function thresholdOf(blocks: readonly (readonly [words: number, odds: number])[]): number {
  const page = emptyPage();
  for (const [words] of blocks) page.blocks.words.push(words);
  return (
    bestThreshold(
      page.blocks,
      Float64Array.from(blocks, ([, odds]) => odds * SCALE),
      () => true,
    ) / SCALE
  );
}

test('R2: a page that is plain to see is divided near even odds', () => {
  const threshold = thresholdOf([
    ...Array(9).fill([80, 4]),
    ...Array(9).fill([80, -4]),
    [20, 0.6],
    [20, -0.6],
  ]);
  expect(threshold).toBeGreaterThanOrEqual(-0.6);
  expect(threshold).toBeLessThanOrEqual(0.5);
});

test('R2: where all blocks are in doubt, what is less likely than not is kept too', () => {
  expect(thresholdOf([...Array(10).fill([50, -1]), [50, -3]])).toBeLessThan(-1);
});

test('R2: blocks that are not open and blocks without words say nothing', () => {
  const page = emptyPage();
  page.blocks.words.push(50, 5000, 0);
  const scores = Float64Array.from([2 * SCALE, -1 * SCALE, 0]);
  const some = bestThreshold(page.blocks, scores, block => block !== 1);
  page.blocks.words[1] = 0;
  expect(bestThreshold(page.blocks, scores, () => true)).toBe(some);
});
