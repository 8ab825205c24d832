import {availableParallelism} from 'node:os';
import {configDefaults} from 'vitest/config';
import {PartsReporter} from './run-setup.ts';

/** Processes that run tests. Browsers and sandboxes leave processors idle, so there is one more than those. */
export const workers = 1 + availableParallelism();

/** In CI a dot for each test and, at the end, what failed in full. Last, what was left out. */
export const reporters = (): ('default' | 'dot' | PartsReporter)[] => [
  process.env['CI'] === undefined ? 'default' : 'dot',
  new PartsReporter(),
];

/** Marks a test that takes a third of a second or more, by large inputs, many runs of a property, waiting, or other programs. */
export const slow = {
  name: 'slow',
  description: 'Takes a third of a second or more. `npm run test:unit` leaves it out.',
};

/** Marks a test that repeats kills, crowds or growth. The hostile job runs it. */
export const stress = {
  name: 'stress',
  description: 'Repeats kills, crowds or growth. `npm test` leaves it out, `npm run test:hostile` runs it.',
};

/** How long things may take where the machine is busy with something else. Nothing that is right takes so long. */
export const patience = {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  expect: {poll: {timeout: 20_000}},
};

/**
 * Tests of the whole share two processors with browsers, engines and sandboxes. The run lists each test that needed
 * its second try: it is a defect of the test or of the product. Properties, races and attacks get one try.
 */
export const secondTry = {retry: 1};

/** Races, crashes, hostile input and properties, and what puts other functions in the place of Node's: each file has a process of its own. */
export const takesAProcess = [
  'src/**/*{race,hostile,crash}*.test.ts',
  'src/**/*.property.test.ts',
  'src/sandbox/bubblewrap/broken-pipes.test.ts',
  'src/sandbox/bubblewrap/setup.test.ts',
];

/** Tests of the whole that count what is left of browsers, sandboxes and servers, or close everything. */
export const countsItsProcess = [
  'test/e2e/{browser,sandbox,background,crawl,egress,mcp}-*.test.ts',
  'test/e2e/{interfaces,toolbox}-close.test.ts',
  'test/e2e/{pdf-text,fetch-batch,report,hub,agent-trial}.test.ts',
  'test/hub/*.test.ts',
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
