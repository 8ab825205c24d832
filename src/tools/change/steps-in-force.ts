import type {PastChange} from '../../core/past-change.ts';

/** The changes that were not taken back, oldest first. Where a taking back was taken back, the change is in force again. */
export function stepsInForce(steps: readonly PastChange[]): readonly PastChange[] {
  const targets = new Map(steps.map(({step, undoes}) => [step, undoes]));
  const gone = new Set<number>();
  for (const {undoes} of steps) {
    let isGone = true;
    // What it took back may itself have taken back something.
    for (let step = undoes; step !== undefined; step = targets.get(step)) {
      if (isGone) gone.add(step);
      else gone.delete(step);
      isGone = !isGone;
    }
  }
  return steps.filter(({step}) => !gone.has(step));
}
