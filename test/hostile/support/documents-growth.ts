/** CPU time of a synchronous piece of work in milliseconds, garbage collection included. */
function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const {user, system} = process.cpuUsage(before);
  return (user + system) / 1000;
}

function best(rounds: number, work: () => void): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round += 1) least = Math.min(least, cpuMs(work));
  return least;
}

export interface Growth {
  /** Of the time per doubling, over two doublings: 2 is linear, 4 quadratic. */
  readonly perDoubling: number;
  readonly ms: readonly [number, number];
}

/** Shorter times say nothing: the clock of the CPU has ticks, and what is so fast is not dangerous at that size. */
const FLOOR_MS = 4;

/** Which sizes are compared, as multiples of the first, and by the best of how many rounds. */
const ATTEMPTS = [
  [1, 1],
  [1, 4],
  [4, 1],
  [4, 3],
] as const;

/**
 * How the time grows from an input to one four times as long. A machine that has other work makes times longer
 * and never shorter, and a cache that is outgrown makes one step steeper: so a result above `limit` is measured
 * again, and then between larger inputs. What is quadratic is steep everywhere.
 */
export function growth(
  inputOf: (size: number) => string,
  work: (input: string) => unknown,
  size: number,
  limit: number,
  attempts: readonly (readonly [number, number])[] = ATTEMPTS,
): Growth {
  let result: Growth = {perDoubling: Number.POSITIVE_INFINITY, ms: [0, 0]};
  for (const [scale, rounds] of attempts) {
    const [small, large] = [inputOf(size * scale), inputOf(size * scale * 4)];
    const before = best(rounds + 1, () => void work(small));
    const after = best(rounds, () => void work(large));
    const perDoubling = Math.sqrt(after / Math.max(before, FLOOR_MS));
    if (perDoubling < result.perDoubling) result = {perDoubling, ms: [before, after]};
    if (result.perDoubling < limit) break;
  }
  return result;
}
