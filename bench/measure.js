/** Samples shorter than this are repeated until they are as long, so that the clock's grain does not matter. */
const SAMPLE_MS = 100;
/** So long does each contender run before it counts, at least twice: by then its code is compiled. */
const WARM_UP_MS = 400;

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
  const {before, sampleMs = SAMPLE_MS, clock = cpuTime} = options;
  const names = Object.keys(contenders);
  const samples = Object.fromEntries(names.map(name => [name, []]));
  const repeats = {};
  for (const name of names) {
    let once = 0;
    for (let total = 0, runs = 0; runs < 2 || total < WARM_UP_MS; runs += 1) {
      await before?.(name);
      once = await timed(contenders[name], 1, clock);
      total += once;
    }
    repeats[name] = before ? 1 : Math.max(1, Math.ceil(sampleMs / once));
  }
  for (let round = 0; round < rounds; round += 1) {
    for (let at = 0; at < names.length; at += 1) {
      const name = names[(at + round) % names.length];
      await before?.(name);
      samples[name].push((await timed(contenders[name], repeats[name], clock)) / repeats[name]);
    }
  }
  return samples;
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
