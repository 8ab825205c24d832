import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import {loadOurs} from '../../load.js';
import {labelledPages} from '../labelled-pages.js';
import {wordsOf} from '../words.js';
import {alignedWords} from './align.js';
import {binOf, edgesOf} from './boosted-trees.js';

/** Every so many pages, one is looked at to divide the values of a feature into bins. */
const SAMPLED = 12;
/** A truth of which less is on the page was made of another one. */
const LEAST_COVERAGE = 0.4;

/** Blocks of all labelled pages as rows of binned features; kept in `cache` for the next fit, if one is given. */
export async function readRows(directory, cache) {
  if (cache !== undefined && existsSync(`${cache}.json`)) {
    const facts = JSON.parse(readFileSync(`${cache}.json`, 'utf8'));
    const bytes = readFileSync(`${cache}.bin`);
    const view = (Kind, at, length) =>
      new Kind(
        bytes.buffer.slice(bytes.byteOffset + at, bytes.byteOffset + at + length * Kind.BYTES_PER_ELEMENT),
      );
    const {count, features} = facts;
    let at = 0;
    const next = (Kind, length) => {
      const values = view(Kind, at, length);
      at += length * Kind.BYTES_PER_ELEMENT;
      return values;
    };
    return {
      ...facts,
      labels: next(Float32Array, count),
      weights: next(Float32Array, count),
      pages: next(Int32Array, count),
      bins: next(Uint8Array, count * features.length),
    };
  }
  const [{readBlocks}, {BlockFeatures}, {FEATURES}, {readingTree}] = await Promise.all([
    loadOurs('web/extract/reader/read-blocks.js'),
    loadOurs('web/extract/reader/block-features.js'),
    loadOurs('web/extract/reader/page-shape.js'),
    loadOurs('web/extract/reader/reading-tree.js'),
  ]);
  const width = FEATURES.length;
  const pages = [];
  const sampled = FEATURES.map(() => []);
  let coverage = 0;
  for (const page of labelledPages(directory)) {
    const tree = readingTree(page.html);
    const read = readBlocks(tree);
    const count = read.blocks.units.length;
    const words = [];
    const starts = [0];
    for (let block = 0; block < count; block++) {
      const end = block + 1 < count ? read.blocks.firstLeaf[block + 1] : read.leaves.length;
      for (let leaf = read.blocks.firstLeaf[block]; leaf < end; leaf++)
        words.push(...wordsOf(tree.text(read.leaves[leaf])));
      starts.push(words.length);
    }
    const wanted = wordsOf(page.truth);
    const aligned = alignedWords(words, wanted);
    coverage += aligned.coverage;
    const rows = new Float32Array(count * width);
    const labels = new Float32Array(count);
    const weights = new Float32Array(count);
    const features = new BlockFeatures(read);
    const scale = 1 / (wanted.length + 0.25 * words.length + 60);
    for (let block = 0; block < count; block++) {
      rows.set(features.fill(block), block * width);
      const length = starts[block + 1] - starts[block];
      let found = 0;
      for (let at = starts[block]; at < starts[block + 1]; at++) found += aligned.isFound[at];
      labels[block] = length === 0 ? 0 : found / length;
      weights[block] =
        wanted.length === 0 || length === 0 || aligned.coverage < LEAST_COVERAGE ? 0 : (length + 0.5) * scale;
      // What is hidden is left out whatever its score, but where nothing else is there.
      if ((read.blocks.place[block] & 1) !== 0) weights[block] *= 0.2;
    }
    if (pages.length % SAMPLED === 0) {
      for (let block = 0; block < count; block += 2)
        for (let at = 0; at < width; at++) sampled[at].push(rows[block * width + at]);
    }
    pages.push({half: page.half, rows, labels, weights});
    if (pages.length % 100 === 0) console.error(`${pages.length} pages`);
  }
  console.error(`words of the truths that were found: ${(coverage / pages.length).toFixed(4)}`);
  const edges = sampled.map(edgesOf);
  const count = pages.reduce((sum, {labels}) => sum + labels.length, 0);
  const all = {
    labels: new Float32Array(count),
    weights: new Float32Array(count),
    pages: new Int32Array(count),
    bins: new Uint8Array(count * width),
  };
  let row = 0;
  for (const [number, {rows, labels, weights}] of pages.entries()) {
    all.labels.set(labels, row);
    all.weights.set(weights, row);
    all.pages.fill(number, row, row + labels.length);
    for (let at = 0; at < rows.length; at++) all.bins[row * width + at] = binOf(edges[at % width], rows[at]);
    row += labels.length;
    pages[number].rows = undefined;
  }
  const facts = {count, features: FEATURES, edges, halves: pages.map(({half}) => half)};
  if (cache !== undefined) {
    writeFileSync(`${cache}.json`, JSON.stringify(facts));
    writeFileSync(
      `${cache}.bin`,
      Buffer.concat([all.labels, all.weights, all.pages, all.bins].map(({buffer}) => Buffer.from(buffer))),
    );
  }
  return {...facts, ...all};
}
