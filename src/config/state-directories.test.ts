import {expect, test} from 'vitest';
import {
  believedDirectories,
  defaultRunDirectory,
  defaultRunsRoot,
  defaultStateDirectory,
  programDirectories,
} from './state-directories.ts';

const own = process.getuid === undefined ? '' : `-${process.getuid()}`;
const environment = (env: Record<string, string> = {}, homeDir = '/home/u') => ({
  env,
  homeDir,
  cwd: '/',
  tempDir: '/tmp',
});
const RUNS = '/home/u/.local/state/forge-tools/runs';

test.each([
  [{XDG_STATE_HOME: '/state'}, '/home/u', '/state/forge-tools/runs'],
  [{XDG_STATE_HOME: 'state'}, '/home/u', RUNS],
  [{}, '/home/u', RUNS],
  [{}, '', `/tmp/forge-tools-runs${own}`],
])('ruling W10 with %j and the home %j, runs are kept in %s', (env, home, expected) => {
  expect(defaultRunsRoot(environment(env as Record<string, string>, home))).toBe(expected);
});

test.each([
  [undefined, `${RUNS}/n`],
  ['/work', `${RUNS}/n`],
  ['/home/u', `/tmp/forge-tools-run-n${own}`],
  ['/', `/tmp/forge-tools-run-n${own}`],
  ['/home/u/.local/state/forge-tools/run', `${RUNS}/n`],
])('ruling W10 a run on the workspace %s is kept in %s, never inside', (workspace, expected) => {
  expect(defaultRunDirectory(environment(), workspace, 'n')).toBe(expected);
});

test('policy: state is one place for a user, outside of the workspace', () => {
  const journal = '/home/u/.local/state/forge-tools/journal';
  expect(defaultStateDirectory(environment(), '/work')).toBe(journal);
  expect(defaultStateDirectory(environment(), '/home/u')).toBe(`/tmp/forge-tools-journal${own}`);
  expect(believedDirectories(environment(), '/work')).toEqual([journal, journal, RUNS]);
  expect(believedDirectories(environment(), '/home/u')).toEqual([
    `/tmp/forge-tools-journal${own}`,
    journal,
    RUNS,
  ]);
});

test('policy: of PATH the absolute directories count', () => {
  expect(programDirectories(environment({PATH: '/bin:.::bin:/usr/bin'}))).toEqual(['/bin', '/usr/bin']);
  expect(programDirectories(environment())).toEqual([]);
});
