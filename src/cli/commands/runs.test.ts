import {mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {cliConfig} from '../../../test/support/cli-config.ts';
import {runCliHere} from '../../../test/support/run-cli-here.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';

/** Two runs of the default place: the later one wrote a file of its workspace. */
async function place() {
  const cwd = temporaryDirectory();
  const state = temporaryDirectory();
  const options = {cwd, env: {XDG_STATE_HOME: state}};
  await runCliHere(['call', 'list_files', '{}'], options);
  const root = join(state, 'forge-tools/runs');
  const {stdout} = await runCliHere(['runs', '--json'], options);
  // Written long ago.
  utimesSync(join(JSON.parse(stdout).path, 'events.jsonl'), 1, 1);
  const params = JSON.stringify({path: 'a.txt', content: 'a\n'});
  await runCliHere(['call', 'write_file', params, '--profile', 'trusted'], options);
  return {cwd, root, options};
}

test('policy: runs lists what is kept, the latest first', async () => {
  const {root, options} = await place();
  const {code, stdout, stderr} = await runCliHere(['runs'], options);
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^\S+ {2}\S+ ago · 1 call · write_file\n\S+ {2}\d+d[^\n]* ago · 1 call · list_files\n$/,
  );
  expect(stderr).toContain(root);
  const one = await runCliHere(['runs', '--limit', '1', '--json'], options);
  expect(JSON.parse(one.stdout)).toMatchObject({calls: 1, tools: ['write_file'], ended: true});
});

test('policy: a log that is cut off, or is none, is no obstacle', async () => {
  const {root, options} = await place();
  for (const name of ['cut', 'empty', 'none']) mkdirSync(join(root, name));
  writeFileSync(join(root, 'cut/events.jsonl'), '{"seq":1,"time":"x","event":"tool_call_started","payl');
  writeFileSync(join(root, 'empty/events.jsonl'), '');
  const {code, stdout} = await runCliHere(['runs'], options);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^cut {2}.*1 call · not ended$/m);
  expect(stdout).toMatch(/^empty {2}.*0 calls · not ended$/m);
  expect(stdout).not.toContain('none');
});

test('policy: without a run it says where one would be', async () => {
  const {code, stdout, stderr} = await runCliHere(['runs'], {env: {XDG_STATE_HOME: '/nonexistent'}});
  expect({code, stdout}).toEqual({code: 0, stdout: ''});
  expect(stderr).toContain('No run is kept in /nonexistent/forge-tools/runs yet.');
});

test('policy: "latest" and a name do for undo, events and report', async () => {
  const {cwd, options} = await place();
  const {stdout} = await runCliHere(['runs', '--limit', '1', '--json'], options);
  const {name, path} = JSON.parse(stdout);
  for (const run of ['latest', name]) {
    expect((await runCliHere(['events', 'verify', run], options)).stdout).toMatch(/^Intact: /);
    expect((await runCliHere(['report', run], options)).stdout).toContain(join(path, 'report.html'));
  }
  expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('a\n');
  expect(await runCliHere(['undo', 'latest', '1'], options)).toMatchObject({code: 0});
  expect(() => readFileSync(join(cwd, 'a.txt'))).toThrow();
});

test('policy: a run that is not there is named as what was written', async () => {
  for (const argv of [
    ['undo', 'lates', '1'],
    ['events', 'verify', 'lates'],
  ]) {
    const {code, stderr} = await runCliHere(argv, {env: {XDG_STATE_HOME: '/nonexistent'}});
    expect(code).toBe(1);
    expect(stderr).toContain('There is no run');
  }
  expect((await runCliHere(['undo', 'latest', 'x'])).stderr).toContain('The step is a number');
});

/** Makes a run look as if it was written to so many days ago. */
function age(path: string, days: number): void {
  const at = Date.now() / 1000 - days * 86_400;
  utimesSync(join(path, 'events.jsonl'), at, at);
}

test('M1: typos leave no run, and the start of a session removes what is past runs.keep_days', async () => {
  const {env, cwd, flags} = cliConfig('[runs]\nkeep_days = 7\n');
  const run = (...argv: string[]) => runCliHere([...argv, ...flags], {env, cwd});
  const listed = async (): Promise<{path: string; name: string}[]> => {
    const {stdout} = await runCliHere(['runs', '--json'], {env});
    return stdout
      .split('\n')
      .filter(Boolean)
      .map(line => JSON.parse(line));
  };
  for (const wrong of ['list_fiels', 'read_fil']) await run('call', wrong, '{}');
  await run('call', 'list_files', '{"pth": "."}');
  expect(await listed()).toEqual([]);
  await run('call', 'list_files', '{}');
  const [old] = await listed();
  age(old?.path ?? '', 8);
  rmSync(join(old?.path ?? '', '../.pruned'));
  await run('call', 'list_files', '{}');
  const left = await listed();
  expect(left.map(({name}) => name)).not.toContain(old?.name);
  expect(left).toHaveLength(1);

  const gone = await runCliHere(['undo', old?.name ?? '', '1'], {env, cwd});
  expect(gone.code).toBe(1);
  expect(gone.stderr).toContain(`The run \\"${old?.name}\\" is gone: old runs are removed`);
  expect(gone.stderr).toContain('Its steps can no longer be undone.');
});

test('M1: runs prune removes by age and number, and says what it would remove', async () => {
  const {env, cwd, flags} = cliConfig();
  for (let at = 0; at < 4; at += 1) await runCliHere(['call', 'list_files', '{}', ...flags], {env, cwd});
  const {stdout} = await runCliHere(['runs', '--json'], {env});
  const paths: string[] = stdout
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line).path);
  for (const [at, path] of paths.entries()) age(path, 10 * at);
  const prune = (...more: string[]) => runCliHere(['runs', 'prune', ...more, ...flags], {env, cwd});
  const dry = await prune('--older-than', '5', '--dry-run');
  expect(dry.stdout.split('\n')).toHaveLength(4);
  expect(dry.stderr).toMatch(/^3 runs \(.* KiB\) would be removed, 1 stay in /);
  expect((await prune('--older-than', '15')).stderr).toMatch(/^2 runs .* were removed, 2 stay/);
  expect((await prune('--keep', '1', '--json')).stdout).toContain('"bytes":');
  expect((await prune()).stderr).toMatch(/^0 runs \(0 B\) were removed, 1 stay/);
});

test.each([[['other']], [['--keep', '1']], [['prune', '--limit', '1']], [['prune', '--older-than', '0']]])(
  'policy: runs %j is wrong usage',
  async argv => {
    expect(await runCliHere(['runs', ...argv])).toMatchObject({code: 2});
  },
);
