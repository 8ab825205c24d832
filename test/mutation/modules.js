import {existsSync, readdirSync} from 'node:fs';
import {join} from 'node:path';

/** Of `src/workspace`, what keeps a call inside the root, and its write half, which has to: whole folders, so that a new file is in. */
const JAIL_FOLDERS = ['jail', 'walk'];
const JAIL_FILES = ['open-file', 'refusals', 'workspace-path'];

/** The race costs seconds, and finds what it finds by chance; of these properties, fifty cases are too few. */
const CHANCE = {
  guard: ['src/web/guard/check-url.property.test.ts'],
  jail: ['src/workspace/jail/jail-race.test.ts', 'src/workspace/jail/jail.property.test.ts'],
};

/** What measures time says nothing of code with a switch at every expression. */
const TIMED = 'src/tools/files/large-files.test.ts';

/** They measure time too; others come by the same code. */
const PATCH_TIMED = 'src/workspace/patch/hostile.test.ts';
/** A process of its own has no mutant switched on. */
const IN_A_PROCESS = 'src/runtime/session-crash.test.ts';

/** These commands are what merges tables of TOML, and asks where it was started. */
const CONFIG_IN_USE = ['config', 'mcp', 'setup'].map(name => `src/cli/commands/${name}.test.ts`);

/**
 * They kill by what is in the environment of a process. A change of what they look for finds every process of the
 * machine: `grep -F ''` does.
 */
const KILLS_OTHERS = ['src/sandbox/unconfined.ts'];

/** What is mutated, and the tests beside it that have to notice: paths from `root`. */
export const MODULES = {
  url: root => file(root, 'src/web/url'),
  guard: root => without(folder(root, 'src/web/guard'), ...CHANCE.guard),
  ip: root => file(root, 'src/web/guard/ip'),
  robots: root => folder(root, 'src/web/robots'),
  chunk: root => folder(root, 'src/web/chunk'),
  fit: root => file(root, 'src/web/fit-to-budget'),
  cache: root => folder(root, 'src/web/cache'),
  config: root => together(folder(root, 'src/config'), {mutate: [], tests: CONFIG_IN_USE}),
  runtime: root => without(folder(root, 'src/runtime'), IN_A_PROCESS),
  tools: root => quick(without(folder(root, 'src/tools'), TIMED)),
  edit: root => folder(root, 'src/workspace/change'),
  patch: root => quick(without(folder(root, 'src/workspace/patch'), PATCH_TIMED)),
  sandbox: root => without(folder(root, 'src/sandbox'), 'src/sandbox/guard/', ...KILLS_OTHERS),
  'sandbox-guard': root => folder(root, 'src/sandbox/guard'),
  jail: root =>
    without(
      together(
        ...JAIL_FOLDERS.map(name => folder(root, `src/workspace/${name}`)),
        ...JAIL_FILES.map(name => file(root, `src/workspace/${name}`)),
      ),
      ...CHANCE.jail,
    ),
};

function folder(root, path) {
  if (!existsSync(join(root, path)))
    throw new Error(`Expected modules.js to name folders that exist, got ${path}`);
  const files = readdirSync(join(root, path), {recursive: true})
    .map(name => `${path}/${name}`)
    .filter(name => name.endsWith('.ts'));
  const isTest = name => name.endsWith('.test.ts');
  return {mutate: files.filter(name => !isTest(name)), tests: files.filter(isTest)};
}

/** A file and, where it has one, the test beside it. */
function file(root, path) {
  const isThere = name => existsSync(join(root, name));
  if (!isThere(`${path}.ts`)) throw new Error(`Expected modules.js to name files that exist, got ${path}.ts`);
  return {mutate: [`${path}.ts`], tests: [`${path}.test.ts`].filter(isThere)};
}

function together(...parts) {
  return {mutate: parts.flatMap(({mutate}) => mutate), tests: parts.flatMap(({tests}) => tests)};
}

/**
 * Without the tests that are tagged `slow`: they start a program for each of many cases, or go through megabytes, and
 * with a switch at every expression they run into the limits of time that the tools have. Others come by the same code.
 */
function quick(module) {
  return {...module, leavesOutSlow: true};
}

/** Leaves out what lies below these paths, or is one of them. */
function without({mutate, tests}, ...paths) {
  for (const path of paths) {
    if (![...mutate, ...tests].some(name => name.startsWith(path))) {
      throw new Error(`Expected modules.js to leave out what exists, got ${path}`);
    }
  }
  const isElsewhere = name => !paths.some(path => name.startsWith(path));
  return {mutate: mutate.filter(isElsewhere), tests: tests.filter(isElsewhere)};
}
