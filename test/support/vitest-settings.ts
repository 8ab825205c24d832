import {availableParallelism} from 'node:os';
import {configDefaults} from 'vitest/config';

/** Threads or processes that run tests: all processors, and two where there is one. Vitest would leave one out. */
export const workers = Math.max(2, availableParallelism());

/** In CI a dot a test and, at the end, what failed in full; `FORGE_TEST_REPORTS` is a directory for reports as JSON. */
export function reporters(name: string): ('default' | 'dot' | ['json', {outputFile: string}])[] {
  const {CI, FORGE_TEST_REPORTS: place} = process.env;
  const said = CI === undefined ? 'default' : 'dot';
  return place === undefined ? [said] : [said, ['json', {outputFile: `${place}/${name}.json`}]];
}

/** Marks a test that takes a third of a second or more, by large inputs, many runs of a property, waiting, or other programs. */
export const slow = {
  name: 'slow',
  description: 'Takes a third of a second or more. `npm run test:unit` leaves it out.',
};

/** How long things may take where the machine is busy with something else. Nothing that is right takes so long. */
export const patience = {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  expect: {poll: {timeout: 20_000}},
};

/** Races, crashes, hostile input and properties, and what puts other functions in the place of Node's: each file has a process of its own. */
export const takesAProcess = [
  'src/**/*{race,hostile,crash}*.test.ts',
  'src/**/*.property.test.ts',
  'src/sandbox/child/broken-pipes.test.ts',
  'src/sandbox/bubblewrap/bubblewrap-setup.test.ts',
];

/**
 * The other tests beside the code run in processes that each load a module once. Processes and not threads: some count
 * the descriptors and sockets of their process.
 */
export const besideCode: {include: string[]; exclude: string[]; pool: 'forks'; isolate: false} = {
  include: ['src/**/*.test.ts'],
  exclude: [...configDefaults.exclude, ...takesAProcess],
  pool: 'forks',
  isolate: false,
};
