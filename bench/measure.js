import {fork} from 'node:child_process';
import {join} from 'node:path';

/** Samples shorter than this are repeated until they are as long, so that the clock's grain does not matter. */
const SAMPLE_MS = 100;
/** So long does each contender run before it counts, at least twice: by then most of its code is compiled. */
const WARM_UP_MS = 400;
/** Large programs are optimised for seconds; what the first page of a process takes is a row of its own. */
export const LONG_WARM_UP_MS = 3000;

/**
 * What this process has computed, in milliseconds, on all its threads: what else the machine does is not in
 * it. For work that neither waits nor leaves the process.
 */
export function cpuTime() {
  const {user, system} = process.cpuUsage();
  return (user + system) / 1000;
}

/** What a clock on the wall shows, for work that waits for others. */
export function wallTime() {
  return performance.now();
}

/**
 * Runs the contenders in turn, round after round, so that whatever else the machine does falls on all
 * alike; who begins changes with the round. `contenders` is name → work, which may be a promise. The answer
 * is name → milliseconds for one piece of work, one for each round. `before` runs unmeasured before every
 * sample, which is then one piece of work long.
 */
export async function alternate(contenders, rounds, options = {}) {
  const {before} = options;
  const samplers = {};
  for (const [name, work] of Object.entries(contenders)) {
    samplers[name] = await warmUp(work, {...options, before: before && (() => before(name))});
  }
  return inTurns(samplers, rounds);
}

/**
 * As `alternate`, with each contender in a process of its own, as its users have it: in one process its garbage would be
 * that of the others, and what is not called for some seconds has its code thrown away. `module` exports
 * `contender(name)`, which answers with the work, or with `undefined` where that cannot be had; it is left out then.
 */
export async function alternateApart(module, names, rounds, options = {}) {
  const samplers = {};
  const children = [];
  for (const name of names) {
    const child = fork(join(import.meta.dirname, 'contender.js'), [module, name, JSON.stringify(options)]);
    children.push(child);
    if ((await answerOf(child)).isThere) samplers[name] = () => sampleOf(child);
  }
  const samples = await inTurns(samplers, rounds);
  for (const child of children) child.disconnect();
  return samples;
}

/** Runs `work` until it is compiled. The answer takes one sample whenever it is called: milliseconds for a piece of work. */
export async function warmUp(work, {before, sampleMs = SAMPLE_MS, warmUpMs = WARM_UP_MS, clock = cpuTime}) {
  let once = 0;
  for (let total = 0, runs = 0; runs < 2 || total < warmUpMs; runs += 1) {
    await before?.();
    once = await timed(work, 1, clock);
    total += once;
  }
  const repeats = before ? 1 : Math.max(1, Math.ceil(sampleMs / once));
  return async () => {
    await before?.();
    return (await timed(work, repeats, clock)) / repeats;
  };
}

async function inTurns(samplers, rounds) {
  const names = Object.keys(samplers);
  const samples = Object.fromEntries(names.map(name => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (let at = 0; at < names.length; at += 1) {
      const name = names[(at + round) % names.length];
      samples[name].push(await samplers[name]());
    }
  }
  return samples;
}

async function sampleOf(child) {
  child.send('sample');
  return (await answerOf(child)).ms;
}

function answerOf(child) {
  return new Promise((resolve, reject) => {
    const ended = code => reject(new Error(`A contender ended with ${code}.`));
    child.once('exit', ended);
    child.once('message', message => {
      child.off('exit', ended);
      resolve(message);
    });
  });
}

async function timed(work, times, clock) {
  const start = clock();
  for (let time = 0; time < times; time += 1) {
    const answer = work();
    // Waiting for what is no promise would cost more than some of the work does.
    if (answer instanceof Promise) await answer;
  }
  return clock() - start;
}

/** Round by round, how many times the other one's cost ours is: above 1 we are the cheaper. */
export function ratios(ours, theirs) {
  return ours.map((cost, round) => theirs[round] / cost);
}

export function median(numbers) {
  const sorted = numbers.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
