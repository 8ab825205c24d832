import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {needs} from '../../../test/support/parts.ts';
import {type CliOptions, runCliHere} from '../../../test/support/run-cli-here.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';

/** Runs `exec` in a workspace of its own. */
function place(config = '') {
  const home = temporaryDirectory();
  const root = join(home, 'project');
  const file = join(home, 'config.toml');
  mkdirSync(join(root, 'sub'), {recursive: true});
  writeFileSync(file, `[tools.run]\nsandbox = "bubblewrap"\n${config}`);
  const env = {PATH: process.env['PATH'] ?? '', FORGE_TOOLS_CONFIG: file};
  const exec = (argv: readonly string[], options: CliOptions = {}) =>
    runCliHere(['exec', ...argv], {cwd: root, homeDir: home, env, ...options});
  return {root, exec};
}

describe('exec', needs('bubblewrap'), () => {
  test('passes both streams and the exit code through, byte for byte', async () => {
    const {exec} = place();
    expect(await exec(['--', 'echo out; echo err >&2; exit 3'])).toEqual({
      code: 3,
      stdout: 'out\n',
      stderr: 'err\n',
    });
    expect(await exec(['--', 'true'])).toEqual({code: 0, stdout: '', stderr: ''});
    const {stdout} = await exec(['--', 'head -c 300000 /dev/zero | tr "\\0" x']);
    expect(stdout).toBe('x'.repeat(300_000));
  });

  test('one word is a line for the shell, several are a program and its arguments', async () => {
    const {exec} = place();
    expect((await exec(['--', 'echo $((1 + 1))'])).stdout).toBe('2\n');
    expect((await exec(['--', 'echo', '$((1 + 1))', "it's", '--json'])).stdout).toBe(
      "$((1 + 1)) it's --json\n",
    );
  });

  test('shows the output as it comes', async () => {
    const {root, exec} = place();
    const onStdout = (text: string): void => {
      if (text.includes('ready')) writeFileSync(join(root, 'go'), '');
    };
    const {code} = await exec(['--', 'echo ready; until [ -e go ]; do sleep 0.05; done'], {onStdout});
    expect(code).toBe(0);
  });

  test('runs where it was typed, below the workspace', async () => {
    const {root, exec} = place();
    const typed = {cwd: join(root, 'sub')};
    expect((await exec(['--workspace', '..', '--', 'pwd'], typed)).stdout).toMatch(/\/sub\n$/);
    expect((await exec(['--', 'pwd'], typed)).stdout).not.toMatch(/\/sub\n$/);
  });

  test('a death by signal, the end of its time and Ctrl-C have the exit codes of a shell', async () => {
    const {exec} = place();
    expect(await exec(['--', 'kill -SEGV $$'])).toMatchObject({
      code: 139,
      stderr: 'forge-tools: The command was ended by SIGSEGV.\n',
    });
    expect(await exec(['--timeout', '1', '--', 'echo on; sleep 600'])).toEqual({
      code: 124,
      stdout: 'on\n',
      stderr: 'forge-tools: The command ran for 1 s and was ended.\n',
    });
    const interrupt = new AbortController();
    const onStdout = (): void => interrupt.abort();
    const stopped = await exec(['--', 'echo on; sleep 600'], {onStdout, signal: interrupt.signal});
    expect(stopped).toEqual({code: 130, stdout: 'on\n', stderr: ''});
  });

  test('asks nobody, and runs nothing that a rule denies', async () => {
    const rules = '[[tools.approval.rules]]\ntool = "run"\ndecision = "deny"\ncommand_prefix = "git push"\n';
    const {exec} = place(rules);
    expect((await exec(['--', 'echo', 'on'])).stdout).toBe('on\n');
    const {code, stderr} = await exec(['--', 'true && git push origin']);
    expect(code).toBe(126);
    expect(stderr).toContain('refused by tools.approval.rules[0]');
    expect((await exec(['--profile', 'read-only', '--', 'true'])).code).toBe(126);
  });

  test('needs a command', async () => {
    const {exec} = place();
    expect(await exec([])).toMatchObject({code: 2, stderr: expect.stringContaining('behind --')});
  });
});
