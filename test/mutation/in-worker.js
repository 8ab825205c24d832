// The one test that vitest knows of while mutants run: it switches on one mutant after another, and runs the
// tests that come by it until one fails.
import {appendFileSync, readFileSync, utimesSync} from 'node:fs';
import {test, vi} from '../../node_modules/vitest/dist/index.js';
import {beginFile, declaredTests, forget, leaveOutSlow, run} from './stand-in.js';

const {files, leavesOutSlow, mutants, results} = JSON.parse(process.env.FORGE_MUTANTS);
leaveOutSlow(leavesOutSlow);
/**
 * For what waits for ever, in turns: on a busy machine these come later. Endless loops are found by counting.
 * A test has at least so many, and so many times those it took without a mutant.
 */
const PATIENCE = {turns: 40, times: 20, ms: 100};
/** A test is slow that takes so many times as long as the middle one, and so many milliseconds at least. */
const SLOW = {times: 20, ms: 1000};
/** A mutant that a test comes by so many times more often than without it will not come to an end. */
const hitLimit = hits => 10 * hits + 10_000;
/** Nor will a test that comes by so many more switches: the loop need not go by the mutant. */
const stepLimit = steps => 10 * steps + 100_000;

/** A test that a mutant has stopped may leave others in their place. */
const {setInterval, clearInterval} = globalThis;
/** `performance.now` is slowed down for the tests. */
const clock = () => Number(process.hrtime.bigint()) / 1e6;

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
/** `by` is the test file that noticed. */
const tell = (id, outcome) => appendFileSync(results, `${JSON.stringify({id, ...outcome})}\n`);

test('mutants', {timeout: 0}, async () => {
  const cover = await dryRun(await load());
  const known = new Set(readFileSync(results, 'utf8').match(/(?<="id":")\d+/g));
  // Those that only matter while modules load come last: each has them loaded anew.
  const isDynamic = id => cover.has(id);
  const order = [...mutants.filter(isDynamic), ...mutants.filter(id => !isDynamic(id))];
  for (const id of order) {
    if (known.has(id)) continue;
    tell(id, {status: 'started'});
    const onLoad = stryker.mutantCoverage.static[id] !== undefined;
    let outcome = isDynamic(id) ? await tryTests(id, cover.get(id)) : {status: 'noCoverage'};
    if (onLoad && outcome.by === undefined) outcome = await tryLoading(id);
    tell(id, outcome);
  }
});

async function load() {
  forget();
  vi.resetModules();
  fileOf.length = 0;
  for (const file of files) {
    loading = file;
    beginFile();
    await import(/* @vite-ignore */ `/${file}`);
    while (fileOf.length < declaredTests().length) fileOf.push(file);
  }
  return declaredTests();
}

/** Where each test is declared, and the file that is being loaded, or was the last one. */
const fileOf = [];
let loading;
/** How many switches each test comes by. */
const taken = [];

/** How long each test takes without a mutant, in milliseconds, and how many mutants it has killed. */
const durations = [];
const kills = [];

/** Which tests come by which mutant, and how often. */
async function dryRun(tests) {
  const cover = new Map();
  taken.length = 0;
  durations.length = 0;
  for (const [index, one] of tests.entries()) {
    stryker.currentTestId = `test ${index}`;
    const started = clock();
    steps.taken = 0;
    await run(one);
    // A machine that is busy takes its time for all of them: each says that the worker still turns.
    utimesSync(results, new Date(), new Date());
    taken.push(steps.taken);
    durations.push(clock() - started);
    const hits = stryker.mutantCoverage.perTest[stryker.currentTestId] ?? {};
    stryker.currentTestId = undefined;
    for (const [id, count] of Object.entries(hits)) {
      cover.set(id, [...(cover.get(id) ?? []), {one, index, limit: hitLimit(count)}]);
    }
  }
  return cover;
}

/**
 * The tests that a mutant has to pass, those first that kill the most for the time they take. Slow ones are
 * left out where there are others: of those that survive, each would have to pass them all.
 */
function inOrder(tests) {
  const price = ({index}) => (1 + (durations[index] ?? 0)) / (1 + (kills[index] ?? 0));
  const quick = tests.filter(({index}) => !((durations[index] ?? 0) > slowMs()));
  return (quick.length > 0 ? quick : tests).toSorted((a, b) => price(a) - price(b));
}

/** By the other tests: a machine that is busy slows them all. */
function slowMs() {
  const sorted = durations.toSorted((a, b) => a - b);
  return Math.max(SLOW.ms, SLOW.times * (sorted[Math.floor(sorted.length / 2)] ?? 0));
}

async function tryTests(id, tests) {
  for (const {one, index, limit} of inOrder(tests)) {
    const status = await tryTest(id, {one, index, limit});
    if (status === 'passed') continue;
    kills[index] = (kills[index] ?? 0) + 1;
    return {status, by: fileOf[index]};
  }
  return {status: 'survived'};
}

async function tryTest(id, {one, index, limit}) {
  const turns = Math.max(PATIENCE.turns, (PATIENCE.times * (durations[index] ?? 0)) / PATIENCE.ms);
  const limits = {hits: limit, steps: stepLimit(taken[index]), turns};
  let outcome = await runOnce(id, one, limits);
  // What an earlier mutant left open may fail a test once. What fails it twice is this one.
  if (outcome === 'killed') outcome = await runOnce(id, one, limits);
  if (outcome !== 'waits') return outcome;
  // The machine may be busy, or something left open: it is the mutant that waits if the test ends without it.
  const without = await runOnce(undefined, one, {...limits, turns: turns / 2});
  return without === 'passed' ? 'timedOut' : 'passed';
}

/** For what runs while modules load: they are loaded with it, and any test may notice. */
async function tryLoading(id) {
  Object.assign(stryker, {activeMutant: id, hitCount: 0, hitLimit: hitLimit(0)});
  try {
    const tests = await load();
    return await tryTests(
      id,
      tests.map((one, index) => ({one, index, limit: Number.POSITIVE_INFINITY})),
    );
  } catch {
    return {status: 'killed', by: loading};
  } finally {
    stryker.activeMutant = undefined;
  }
}

/** What comes of one test with the mutant: `passed`, `killed`, `timedOut` by the count, or `waits`. */
async function runOnce(id, one, limits) {
  Object.assign(stryker, {activeMutant: id, hitCount: 0, hitLimit: limits.hits});
  Object.assign(steps, {taken: 0, limit: limits.steps});
  let timer;
  const patience = new Promise(resolve => {
    let turns = 0;
    timer = setInterval(() => {
      turns += 1;
      // That the worker still turns: a survivor may have many slow tests to pass.
      if (turns % 10 === 0) appendFileSync(results, '\n');
      if (turns > limits.turns) resolve('waits');
    }, PATIENCE.ms);
  });
  const endless = () => stryker.hitCount > limits.hits || steps.taken > limits.steps;
  const ended = run(one).then(
    () => (endless() ? 'timedOut' : 'passed'),
    () => (endless() ? 'timedOut' : 'killed'),
  );
  try {
    return await Promise.race([ended, patience]);
  } finally {
    clearInterval(timer);
    stryker.activeMutant = undefined;
    steps.limit = Number.POSITIVE_INFINITY;
  }
}
