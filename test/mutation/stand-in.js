// Stands in for vitest while mutants run: it keeps the tests as plain functions, so that each can be called
// again and again in one process.
import {expect, vi} from '../../node_modules/vitest/dist/index.js';

export {expect, vi};

/** Global, because this module is loaded anew with the files that it stands in for. */
globalThis.forgeTests ??= {tests: [], groups: [], finishers: [], leavesOutSlow: false};
const state = globalThis.forgeTests;

/** What the imported files declared. */
export function declaredTests() {
  return state.tests;
}

export function forget() {
  state.tests = [];
}

/** What a file does before each test is for its own tests. */
export function beginFile() {
  state.groups = [{before: [], after: []}];
}

/** Whether tests that are tagged `slow` are declared in vain. */
export function leaveOutSlow(leavesOutSlow) {
  state.leavesOutSlow = leavesOutSlow;
}

export function describe(_, ...rest) {
  state.groups = [...state.groups, {before: [], after: []}];
  rest.find(isFunction)();
  state.groups = state.groups.slice(0, -1);
}
describe.each =
  table =>
  (_, ...rest) => {
    for (const row of table) describe('', () => rest.find(isFunction)(...argumentsOf(row)));
  };

describe.runIf = condition => (condition ? describe : () => {});
describe.skipIf = condition => describe.runIf(!condition);

/** Between name and body there may be options: time-outs, which are not ours, and tags. */
export function test(_, ...rest) {
  if (state.leavesOutSlow && rest.some(isSlow)) return;
  state.tests.push({body: rest.find(isFunction), groups: state.groups});
}
test.each =
  table =>
  (_, ...rest) => {
    const body = rest.find(isFunction);
    const options = rest.filter(part => !isFunction(part));
    for (const row of table) test('', ...options, () => body(...argumentsOf(row)));
  };

test.runIf = condition => (condition ? test : () => {});
test.skipIf = condition => test.runIf(!condition);

/** Once, before the first test of its group. What is to be done after all of them is not: they run again. */
export function beforeAll(hook) {
  let done;
  state.groups.at(-1).before.push(() => {
    done ??= hook();
    return done;
  });
}

export function beforeEach(hook) {
  state.groups.at(-1).before.push(hook);
}

export function afterEach(hook) {
  state.groups.at(-1).after.push(hook);
}

/** Not called: the tests run again, with the next mutant. */
export function afterAll() {}

export function onTestFinished(finish) {
  state.finishers.push(finish);
}

/** Runs one test with its hooks; throws what it throws. What it left to be done is done in any case. */
export async function run({body, groups: own}) {
  state.finishers = [];
  const mine = state.finishers;
  try {
    for (const {before} of own) for (const hook of before) await hook();
    await body();
  } finally {
    for (const {after} of own.toReversed()) for (const hook of after) await hook();
    for (const finish of mine.toReversed()) await finish();
    // As vitest.config.ts has it (`restoreMocks`).
    vi.restoreAllMocks();
  }
}

function isSlow({tags = []}) {
  return [tags].flat().includes('slow');
}

function isFunction(part) {
  return typeof part === 'function';
}

function argumentsOf(row) {
  return Array.isArray(row) ? row : [row];
}
