import type {Blocks} from '../blocks/page-blocks.ts';
import {SCALE} from './block-score.ts';

/** Scores are counted by eighths of the odds, from -8 on. */
const STEPS = 8;
const LOWEST = -8;
const COUNT = 128;
/** Thresholds that come into question, in eighths from `LOWEST` on: odds from -2 to 1, by quarters. */
const FIRST = (-2 - LOWEST) * STEPS;
const LAST = (1 - LOWEST) * STEPS;
const BETWEEN = 2;

/** The chance that a block of such odds is main content, in 1/4096: whole numbers, the same on every machine. */
const CHANCES = Float64Array.from({length: COUNT}, (_, at) =>
  Math.round(4096 / (1 + Math.exp(-(LOWEST + (at + 0.5) / STEPS)))),
);

/**
 * The threshold by which the words kept are expected to agree best with those that are main content (F1), if the scores say
 * the truth: about even odds on a page that is plain to see, and lower ones where all are in doubt.
 */
export function bestThreshold(
  {words}: Blocks,
  scores: Float64Array,
  isOpen: (block: number) => boolean,
): number {
  const counts = new Float64Array(COUNT);
  for (const [block, number] of words.entries()) {
    if (number === 0 || !isOpen(block)) continue;
    const step = Math.ceil(((scores[block] ?? 0) / SCALE - LOWEST) * STEPS) - 1;
    const at = Math.max(0, Math.min(step, COUNT - 1));
    counts[at] = (counts[at] ?? 0) + number;
  }
  let expected = 0;
  for (let at = 0; at < COUNT; at++) expected += (counts[at] ?? 0) * (CHANCES[at] ?? 0);
  let kept = 0;
  let common = 0;
  let best = FIRST;
  let highest = -1;
  for (let at = COUNT - 1; at >= FIRST; at--) {
    kept += (counts[at] ?? 0) * 4096;
    common += (counts[at] ?? 0) * (CHANCES[at] ?? 0);
    if (at > LAST || at % BETWEEN !== 0 || kept + expected === 0) continue;
    const agreement = common / (kept + expected);
    if (agreement < highest) continue;
    highest = agreement;
    best = at;
  }
  return (LOWEST + best / STEPS) * SCALE;
}
