import {Deadline} from '../../src/core/deadline.ts';
import {createManualClock} from './manual-clock.ts';

/** A deadline whose clock stands still: what it says is given. */
export function pretendDeadline(
  parts: Partial<Pick<Deadline, 'spent' | 'signal' | 'failure'>> = {},
  caller?: AbortSignal,
): Deadline {
  const deadline = new Deadline(60_000, createManualClock(), caller, {tool: 'tool'});
  return Object.defineProperties(deadline, Object.getOwnPropertyDescriptors(parts));
}
