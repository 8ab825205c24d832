// Fits the trees that score blocks. The pages are other people's and stay outside of the project.
// usage: node bench/reader/fit/run.js PAGES [--half 0|1] [--cache FILE] [--out FILE] [--trees N] [--leaves N]
import {writeFileSync} from 'node:fs';
import {parseArgs} from 'node:util';
import {randomFrom} from '../../corpora.js';
import {fitTrees} from './boosted-trees.js';
import {printWeights} from './print-weights.js';
import {readRows} from './rows.js';

const {values, positionals} = parseArgs({
  allowPositionals: true,
  options: {
    half: {type: 'string'},
    cache: {type: 'string'},
    out: {type: 'string'},
    trees: {type: 'string', default: '120'},
    leaves: {type: 'string', default: '16'},
    rate: {type: 'string', default: '0.12'},
    column: {type: 'string', default: '0.35'},
    row: {type: 'string', default: '0.5'},
    least: {type: 'string', default: '0.002'},
  },
});
const [directory, ...more] = positionals;
if (directory === undefined || more.length > 0) {
  console.error('usage: node bench/reader/fit/run.js PAGES [--half 0|1] [--cache FILE] [--out FILE]');
  process.exit(2);
}
const all = await readRows(directory, values.cache);
const width = all.features.length;
const isFitted = row => values.half === undefined || all.halves[all.pages[row]] === Number(values.half);
// Small blocks are many and weigh little: of some so many stay that each weighs the same.
const random = randomFrom(7);
const leastWeight = Number(values.least);
const rows = [];
const weights = [];
for (let row = 0; row < all.count; row++) {
  const weight = all.weights[row];
  if (weight === 0 || !isFitted(row) || random() * leastWeight > weight) continue;
  rows.push(row);
  weights.push(Math.max(weight, leastWeight));
}
const bins = new Uint8Array(rows.length * width);
for (const [at, row] of rows.entries())
  bins.set(all.bins.subarray(row * width, (row + 1) * width), at * width);
const data = {
  bins,
  features: width,
  labels: Float32Array.from(rows, row => all.labels[row]),
  weights: Float32Array.from(weights),
  pages: Int32Array.from(rows, row => all.pages[row]),
};
console.error(`${rows.length} rows of ${all.count}, ${width} features`);
const options = {
  trees: Number(values.trees),
  leaves: Number(values.leaves),
  rate: Number(values.rate),
  rowShare: Number(values.row),
  columnShare: Number(values.column),
  leastWeight: 0.15,
  smooth: 0.5,
};
const trees = fitTrees(data, options, randomFrom(11), number => {
  if (number % 10 === 9) console.error(`${number + 1} trees, ${process.uptime().toFixed(0)} s`);
});
const text = printWeights(trees, all.edges, all.features);
if (values.out === undefined) console.log(text);
else writeFileSync(values.out, text);
