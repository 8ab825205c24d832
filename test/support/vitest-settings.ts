import {availableParallelism} from 'node:os';

/** Threads or processes that run tests: all processors, and two where there is one. Vitest would leave one out. */
export const workers = Math.max(2, availableParallelism());

/** Marks a test that takes a second or more, by large inputs, many runs of a property, or other programs. */
export const slow = {name: 'slow', description: 'Takes a second or more. `npm run test:unit` leaves it out.'};
