import {existsSync, readdirSync} from 'node:fs';
import {join} from 'node:path';

/** Of `src/workspace`, what keeps a call inside the root; and its write half, which has to. */
const JAIL = [
  'entry-info',
  'jail/entry-version',
  'protect/fold-name',
  'io-failure',
  'jail/jail',
  'jail/jailed-directory',
  'jail/jailed-file',
  'jail/jailed-file-system',
  'jail/move-file',
  'open-file',
  'owner',
  'jail/pin-entry',
  'jail/pin-path',
  'jail/pin-root',
  'protect/protected-name',
  'protect/protected-paths',
  'refusals',
  'jail/staged-file',
  'walk/tree-walk',
  'walk/walk-tree',
  'workspace-path',
  'jail/write-target',
];

/** Not the race: it costs seconds, and finds what it finds by chance. */
const JAIL_TESTS = [...JAIL, 'jail/jail-meddling', 'jail/jail-root', 'write-atomic'];

/** What measures time says nothing of code with a switch at every expression. */
const TIMED = 'src/tools/files/large-files.test.ts';

/** What is mutated, and the tests beside it that have to notice: paths from `root`. */
export const MODULES = {
  url: root => folder(root, 'src/web/url'),
  guard: root => folder(root, 'src/web/guard'),
  ip: root => folder(root, 'src/web/ip'),
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

function folder(root, path) {
  const files = readdirSync(join(root, path), {recursive: true})
    .map(name => `${path}/${name}`)
    .filter(name => name.endsWith('.ts'));
  const isTest = name => name.endsWith('.test.ts');
  return {mutate: files.filter(name => !isTest(name)), tests: files.filter(isTest)};
}

/** Leaves out what lies below a path, or is it. */
function without({mutate, tests}, path) {
  const isElsewhere = name => !name.startsWith(path);
  return {mutate: mutate.filter(isElsewhere), tests: tests.filter(isElsewhere)};
}
