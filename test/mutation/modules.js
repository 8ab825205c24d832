import {existsSync, readdirSync} from 'node:fs';
import {join} from 'node:path';

/** Of `src/workspace`, what keeps a call inside the root; and its write half, which has to. */
const JAIL = [
  'entry-info',
  'entry-version',
  'fold-name',
  'io-failure',
  'jail',
  'jailed-directory',
  'jailed-file',
  'jailed-file-system',
  'move-file',
  'open-file',
  'owner',
  'pin-entry',
  'pin-path',
  'pin-root',
  'protected-name',
  'protected-paths',
  'refusals',
  'staged-file',
  'tree-walk',
  'walk-tree',
  'workspace-path',
  'write-target',
];

/** Not the race: it costs seconds, and finds what it finds by chance. */
const JAIL_TESTS = [...JAIL, 'jail-meddling', 'jail-root', 'write-atomic'];

/** What measures time says nothing of code with a switch at every expression. */
const TIMED = ['src/tools/large-files.test.ts'];

/** What is mutated, and the tests beside it that have to notice: paths from `root`. */
export const MODULES = {
  url: root => folder(root, 'src/web/url'),
  guard: root => folder(root, 'src/web/guard'),
  robots: root => folder(root, 'src/web/robots'),
  chunk: root => folder(root, 'src/web/chunk'),
  fit: root => folder(root, 'src/web/fit'),
  cache: root => folder(root, 'src/web/cache'),
  config: root => folder(root, 'src/config'),
  runtime: root => folder(root, 'src/runtime'),
  tools: root => without(folder(root, 'src/tools'), TIMED),
  edit: root => folder(root, 'src/workspace/edit'),
  patch: root => folder(root, 'src/workspace/patch'),
  sandbox: root => without(folder(root, 'src/sandbox'), 'src/sandbox/guard/'),
  'sandbox-guard': root => folder(root, 'src/sandbox/guard'),
  jail: root => ({
    mutate: JAIL.map(name => `src/workspace/${name}.ts`),
    tests: JAIL_TESTS.map(name => `src/workspace/${name}.test.ts`).filter(path =>
      existsSync(join(root, path)),
    ),
  }),
};

function without({mutate, tests}, names) {
  return {mutate, tests: tests.filter(name => !names.includes(name))};
}

function folder(root, path) {
  const files = readdirSync(join(root, path), {recursive: true})
    .map(name => `${path}/${name}`)
    .filter(name => name.endsWith('.ts'));
  const isTest = name => name.endsWith('.test.ts');
  return {mutate: files.filter(name => !isTest(name)), tests: files.filter(isTest)};
}

function without({mutate, tests}, path) {
  const isElsewhere = name => !name.startsWith(path);
  return {mutate: mutate.filter(isElsewhere), tests: tests.filter(isElsewhere)};
}
