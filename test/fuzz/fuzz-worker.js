import {parentPort, workerData} from 'node:worker_threads';
import {BlockCoverage} from './block-coverage.js';
import {mutate} from './mutate.js';
import {Random} from './random.js';

// Looks for an input of one target that breaks what its `check` states; led by the blocks that inputs reach.

/** Asking for the coverage costs some runs; so it is asked for many of them at once. */
const BATCH_MS = 25;
/** A run that takes this long, though its input is short, is a finding. */
const SLOW_MS = 2000;

const {name, seed, seconds, corpus: kept, current} = workerData;
const {target} = await import(`./targets/${name}.js`);
const {check, modules, maxLength} = target;
const bytes = text => new Uint8Array(Buffer.from(text));
const tokens = target.tokens.map(token => (typeof token === 'string' ? bytes(token) : token));
const seeds = [...target.seeds.map(one => (typeof one === 'string' ? bytes(one) : one)), ...kept];

const state = new Int32Array(current, 0, 2);
const shown = new Uint8Array(current, 8);
const coverage = new BlockCoverage();
const random = new Random(seed);
const covered = new Set();
const corpus = [];
let executions = 0;
let finding;

/** What is wrong with an input; undefined for nothing. */
async function run(input) {
  executions += 1;
  state[0] = Math.min(input.length, shown.length);
  shown.set(input.subarray(0, state[0]));
  Atomics.add(state, 1, 1);
  const started = performance.now();
  try {
    const checked = check(input);
    if (checked !== undefined) await checked;
  } catch (error) {
    return error instanceof Error ? String(error.stack) : String(error);
  }
  const tookMs = performance.now() - started;
  return tookMs > SLOW_MS ? `it took ${Math.round(tookMs)} ms` : undefined;
}

/** Keeps an input that reaches something new. */
function learn(input) {
  const fresh = coverage.take(modules).filter(block => !covered.has(block));
  for (const block of fresh) covered.add(block);
  if (fresh.length > 0) corpus.push(input);
}

/** The same for a batch in which one of them does. */
async function learnFrom(batch) {
  if (batch.length === 1) {
    await run(batch[0]);
    learn(batch[0]);
    return;
  }
  const middle = batch.length >> 1;
  for (const half of [batch.slice(0, middle), batch.slice(middle)]) {
    for (const input of half) await run(input);
    if (coverage.take(modules).some(block => !covered.has(block))) await learnFrom(half);
  }
}

const began = performance.now();
for (const input of seeds) {
  const problem = await run(input);
  if (problem !== undefined) finding ??= {problem, input};
  learn(input);
}
if (corpus.length === 0) corpus.push(new Uint8Array());
while (finding === undefined && performance.now() - began < seconds * 1000) {
  const batch = [];
  for (const end = performance.now() + BATCH_MS; performance.now() < end && finding === undefined; ) {
    const input = mutate(corpus, tokens, maxLength, random);
    batch.push(input);
    const problem = await run(input);
    if (problem !== undefined) finding = {problem, input};
  }
  if (!coverage.take(modules).some(block => !covered.has(block))) continue;
  await learnFrom(batch);
}
if (finding !== undefined) finding = await smaller(finding);
const stats = {
  executions,
  seconds: (performance.now() - began) / 1000,
  blocks: covered.size,
  inputs: corpus.length,
};
parentPort.postMessage({stats, corpus: await distilled(), finding});

/** Cuts out of a finding what it does not need. */
async function smaller({problem, input}) {
  let best = {problem, input};
  for (let size = input.length >> 1; size >= 1; size >>= 1) {
    for (let at = 0; at < best.input.length; ) {
      const shorter = Buffer.concat([best.input.subarray(0, at), best.input.subarray(at + size)]);
      const still = await run(shorter);
      if (still === undefined) at += size;
      else best = {problem: still, input: shorter};
    }
  }
  return best;
}

/** The shortest inputs first, and only those that add to them. */
async function distilled() {
  const needed = new Set();
  const kept = [];
  for (const input of corpus.toSorted((one, other) => one.length - other.length)) {
    await run(input);
    const fresh = coverage.take(modules).filter(block => !needed.has(block));
    for (const block of fresh) needed.add(block);
    if (fresh.length > 0) kept.push(input);
  }
  return kept;
}
