// The one test that vitest knows of while mutants run: it switches on one mutant after another, and runs the
// tests that come by it until one fails.
import {appendFileSync, readFileSync} from 'node:fs';
import {test, vi} from '../../node_modules/vitest/dist/index.js';
import {declaredTests, forget, run} from './stand-in.js';

const {files, mutants, results} = JSON.parse(process.env.FORGE_MUTANTS);
/** For what waits for ever. Endless loops are found by counting. */
const PATIENCE_MS = 10_000;
/** A mutant that a test comes by so many times more often than without it will not come to an end. */
const hitLimit = hits => 10 * hits + 10_000;

globalThis.__stryker__ ??= {};
const stryker = globalThis.__stryker__;
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

/** Which tests come by which mutant, how often, the fastest first. */
async function dryRun(tests) {
  const cover = new Map();
  const durations = new Map();
  for (const [index, one] of tests.entries()) {
    stryker.currentTestId = `test ${index}`;
    const started = performance.now();
    await run(one);
    durations.set(one, performance.now() - started);
    const hits = stryker.mutantCoverage.perTest[stryker.currentTestId] ?? {};
    stryker.currentTestId = undefined;
    for (const [id, count] of Object.entries(hits)) {
      cover.set(id, [...(cover.get(id) ?? []), {one, limit: hitLimit(count)}]);
    }
  }
  for (const list of cover.values()) list.sort((a, b) => durations.get(a.one) - durations.get(b.one));
  return cover;
}

async function judge(id, tests) {
  for (const {one, limit} of tests) {
    let verdict = await outcome(id, one, limit);
    // What an earlier mutant left open may fail a test once. What fails it twice is this one.
    if (verdict === 'killed') verdict = await outcome(id, one, limit);
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
      tests.map(one => ({one, limit: Number.POSITIVE_INFINITY})),
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
  let timer;
  const patience = new Promise(resolve => {
    timer = setTimeout(() => resolve('timedOut'), PATIENCE_MS);
  });
  const endless = () => stryker.hitCount > limit;
  const ended = run(one).then(
    () => (endless() ? 'timedOut' : 'passed'),
    () => (endless() ? 'timedOut' : 'killed'),
  );
  try {
    return await Promise.race([ended, patience]);
  } finally {
    clearTimeout(timer);
    stryker.activeMutant = undefined;
  }
}
