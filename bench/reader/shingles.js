import {wordsOf} from './words.js';

/** Runs of so many words are compared, as scrapinghub/article-extraction-benchmark does it. */
const LENGTH = 4;

/** Precision, recall and F1 of one page by its runs of four words. */
export function shingleScore(found, wanted) {
  const counts = shinglesOf(found);
  let common = 0;
  let all = 0;
  for (const [shingle, number] of shinglesOf(wanted)) {
    common += Math.min(number, counts.get(shingle) ?? 0);
    all += number;
  }
  const kept = [...counts.values()].reduce((sum, number) => sum + number, 0);
  const precision = kept === 0 ? (all === 0 ? 1 : 0) : common / kept;
  const recall = all === 0 ? 1 : common / all;
  return {f1: common === 0 ? 0 : (2 * precision * recall) / (precision + recall), precision, recall};
}

function shinglesOf(text) {
  const words = text.match(/[\p{L}\p{M}\p{N}_]+/gu) ?? [];
  const counts = new Map();
  if (words.length === 0) return counts;
  for (let at = 0; at < Math.max(1, words.length - LENGTH + 1); at++) {
    const shingle = words.slice(at, at + LENGTH).join(' ');
    counts.set(shingle, (counts.get(shingle) ?? 0) + 1);
  }
  return counts;
}

/** How many segments that belong to the content were found and missed, and how many of the others are there. */
export function segmentCounts(text, wanted, unwanted) {
  const plain = plainOf(text);
  const has = segment => plain.includes(plainOf(segment));
  const found = wanted.filter(has).length;
  return {found, missed: wanted.length - found, wrong: unwanted.filter(has).length};
}

/** Of all pages together, as trafilatura's evaluation counts. */
export function segmentScore(rows) {
  const sum = key => rows.reduce((total, row) => total + row[key], 0);
  const found = sum('found');
  const precision = found / (found + sum('wrong'));
  const recall = found / (found + sum('missed'));
  return {f1: (2 * precision * recall) / (precision + recall), precision, recall};
}

/** Marks of Markdown within a segment do not count. */
function plainOf(text) {
  return wordsOf(text).join(' ');
}
