import {readFileSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {parse} from 'smol-toml';
import {expect, test} from 'vitest';
import {runCliHere} from '../../../test/support/run-cli-here.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {resolveConfig} from '../../config/resolve-config.ts';

const SURROUNDINGS = {env: {}, cwd: '/nonexistent', tempDir: '/tmp', homeDir: '/tmp/home'};

function resolved(toml: string) {
  const result = resolveConfig(parse(toml, {integersAsBigInt: true}), SURROUNDINGS);
  if (!result.ok) throw new Error(result.error.join('\n'));
  const {config, warnings} = result.value;
  return {config, warnings};
}

test('ruling H7: --init writes a file that offers what is offered without one, and changes nothing else', async () => {
  const directory = temporaryDirectory();
  const {code, stdout} = await runCliHere(['config', '--init'], {env: {XDG_CONFIG_HOME: directory}});
  const file = join(directory, 'forge-tools', 'config.toml');
  expect(code).toBe(0);
  expect(stdout).toContain(file);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const written = resolved(readFileSync(file, 'utf8'));
  expect(written).toEqual(resolved('profile = "guarded"'));
  expect(written.config.tools).toMatchObject({mode: 'enabled', webfetch: {enabled: true}});
});

test('policy: every setting of the file can be taken out of its comment', async () => {
  const file = join(temporaryDirectory(), 'forge.toml');
  await runCliHere(['config', '--init', '--config', file]);
  const opened = readFileSync(file, 'utf8').replace(/^#(?=\w+ = )/gm, '');
  expect(resolved(opened)).toEqual(resolved('profile = "guarded"'));
});

test('policy: --init leaves a file that is there alone', async () => {
  const file = join(temporaryDirectory(), 'forge.toml');
  writeFileSync(file, '# mine\n');
  const {code, stderr} = await runCliHere(['config', '--init', '--config', file]);
  expect(code).toBe(1);
  expect(stderr).toContain('is there already');
  expect(readFileSync(file, 'utf8')).toBe('# mine\n');
});

test('policy: --show is TOML that gives the same settings, and marks what is set', async () => {
  const file = join(temporaryDirectory(), 'forge.toml');
  const written = `[tools.webfetch]
timeout_seconds = 7
user_agent = 'me "quoted" \\'
[[tools.approval.rules]]
tool = "run"
decision = "allow"
command_prefix = "npm test"
[[tools.definitions]]
name = "a"
parameters = {type = "object", properties = {"x y" = {type = "string"}}}
`;
  writeFileSync(file, written);
  for (const argv of [['config'], ['config', '--show']]) {
    const {code, stdout, stderr} = await runCliHere([...argv, '--config', file], {
      tempDir: '/tmp',
      homeDir: '/tmp/home',
    });
    expect({code, stderr}).toEqual({code: 0, stderr: ''});
    expect(resolved(stdout)).toEqual(resolved(written));
    expect(stdout).toContain(`# From "${file}".`);
    expect(stdout).toContain('\ntimeout_seconds = 7  # set\n');
    expect(stdout).toContain('\nmax_redirects = 5\n');
  }
});

test('policy: warnings of the configuration are told', async () => {
  const file = join(temporaryDirectory(), 'forge.toml');
  writeFileSync(file, '[tools.webfetch]\ntimeout_seconds = 900\n');
  const {code, stderr} = await runCliHere(['config', '--config', file]);
  expect(code).toBe(0);
  expect(stderr).toMatch(/^Warning: .*timeout_seconds.*300/);
});

test('policy: without a file it says where one would be', async () => {
  const {stdout} = await runCliHere(['config'], {env: {XDG_CONFIG_HOME: '/nonexistent/xdg'}});
  expect(stdout).toContain('# From "defaults, as there is no /nonexistent/xdg/forge-tools/config.toml".');
});

test('policy: an unusable configuration is exit code 3', async () => {
  const file = join(temporaryDirectory(), 'forge.toml');
  writeFileSync(file, '[tools]\nmode = "sometimes"\n');
  expect(await runCliHere(['config', '--config', file])).toMatchObject({code: 3, stdout: ''});
});

test('policy: --show and --init exclude each other', async () => {
  expect(await runCliHere(['config', '--show', '--init'])).toMatchObject({code: 2});
});
