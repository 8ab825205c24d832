// The one test that vitest knows of while mutants run: it switches on one mutant after another, and runs the
// tests that come by it until one fails.
import {appendFileSync, readFileSync} from 'node:fs';
import {test, vi} from '../../node_modules/vitest/dist/index.js';
import {declaredTests, forget, run} from './stand-in.js';

const {files, mutants, results} = JSON.parse(process.env.FORGE_MUTANTS);
/** For what waits for ever, in turns: on a busy machine these come later. Endless loops are found by counting. */
const PATIENCE = {turns: 100, ms: 100};
/** A mutant that a test comes by so many times more often than without it will not come to an end. */
const hitLimit = hits => 10 * hits + 10_000;
/** Nor will a test that comes by so many more switches: the loop need not go by the mutant. */
const stepLimit = steps => 10 * steps + 100_000;

globalThis.__stryker__ ??= {};
const stryker = globalThis.__stryker__;
/** Every switch reads which mutant is on. */
const steps = {active: undefined, taken: 0, limit: Number.POSITIVE_INFINITY};
Object.defineProperty(stryker, 'activeMutant', {
  get: () => {
    steps.taken += 1;
    if (steps.taken > steps.limit) throw new Error('Expected the code to come to an end');
    return steps.active;
  },
  set: id => {
    steps.active = id;
  },
});
const tell = (id, status) => appendFileSync(results, `${JSON.stringify({id, status})}\n`);

test('mutants', {timeout: 0}, async () => {
  const cover = await dryRun(await load());
  const known = new Set(readFileSync(results, 'utf8').match(/(?<="id":")\d+/g));
  // Those that only matter while modules load come last: each has them loaded anew.
  const isDynamic = id => cover.has(id);
  const order = [...mutants.filter(isDynamic), ...mutants.filter(id => !isDynamic(id))];
  for (const id of order) {
    if (known.has(id)) continue;
    tell(id, 'started');
    const onLoad = stryker.mutantCoverage.static[id] !== undefined;
    let verdict = isDynamic(id) ? await judge(id, cover.get(id)) : 'noCoverage';
    if (onLoad && verdict !== 'killed' && verdict !== 'timedOut') verdict = await judgeLoading(id);
    tell(id, verdict);
  }
});

async function load() {
  forget();
  vi.resetModules();
  for (const file of files) await import(/* @vite-ignore */ `/${file}`);
  return declaredTests();
}

/** How many switches each test comes by. */
const taken = [];

/** Which tests come by which mutant, how often, the fastest first. */
async function dryRun(tests) {
  const cover = new Map();
  const durations = new Map();
  taken.length = 0;
  for (const [index, one] of tests.entries()) {
    stryker.currentTestId = `test ${index}`;
    const started = performance.now();
    steps.taken = 0;
    await run(one);
    taken.push(steps.taken);
    durations.set(one, performance.now() - started);
    const hits = stryker.mutantCoverage.perTest[stryker.currentTestId] ?? {};
    stryker.currentTestId = undefined;
    for (const [id, count] of Object.entries(hits)) {
      cover.set(id, [...(cover.get(id) ?? []), {one, index, limit: hitLimit(count)}]);
    }
  }
  for (const list of cover.values()) list.sort((a, b) => durations.get(a.one) - durations.get(b.one));
  return cover;
}

async function judge(id, tests) {
  for (const {one, index, limit} of tests) {
    steps.limit = stepLimit(taken[index]);
    let verdict = await outcome(id, one, limit);
    // What an earlier mutant left open may fail a test once. What fails it twice is this one.
    if (verdict === 'killed') verdict = await outcome(id, one, limit);
    steps.limit = Number.POSITIVE_INFINITY;
    if (verdict !== 'passed') return verdict;
  }
  return 'survived';
}

/** For what runs while modules load: they are loaded with it, and any test may notice. */
async function judgeLoading(id) {
  Object.assign(stryker, {activeMutant: id, hitCount: 0, hitLimit: hitLimit(0)});
  try {
    const tests = await load();
    return await judge(
      id,
      tests.map((one, index) => ({one, index, limit: Number.POSITIVE_INFINITY})),
    );
  } catch {
    return 'killed';
  } finally {
    stryker.activeMutant = undefined;
  }
}

/** What comes of one test with the mutant: `passed`, `killed` or `timedOut`. */
async function outcome(id, one, limit) {
  Object.assign(stryker, {activeMutant: id, hitCount: 0, hitLimit: limit});
  steps.taken = 0;
  let timer;
  const patience = new Promise(resolve => {
    let turns = 0;
    timer = setInterval(() => {
      turns += 1;
      if (turns > PATIENCE.turns) resolve('timedOut');
    }, PATIENCE.ms);
  });
  const endless = () => stryker.hitCount > limit || steps.taken > steps.limit;
  const ended = run(one).then(
    () => (endless() ? 'timedOut' : 'passed'),
    () => (endless() ? 'timedOut' : 'killed'),
  );
  try {
    return await Promise.race([ended, patience]);
  } finally {
    clearInterval(timer);
    stryker.activeMutant = undefined;
  }
}
