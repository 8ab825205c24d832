import {execFileSync} from 'node:child_process';
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {runCliHere} from '../../../test/support/run-cli-here.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';

/** What bash offers for the last word of a line. */
async function bashOffers(...words: readonly string[]): Promise<readonly string[]> {
  const {stdout} = await runCliHere(['completions', 'bash']);
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'script'), stdout);
  writeFileSync(join(directory, 'a file.toml'), '');
  const program = `
    . "$1"; shift
    compopt() { :; }
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
    _forge_tools; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const args = ['-c', program, 'bash', join(directory, 'script'), 'forge-tools', ...words];
  return execFileSync('bash', args, {cwd: directory, encoding: 'utf8'}).trim().split('\n');
}

test('bash completes commands, the flags of a command and files', {tags: 'slow'}, async () => {
  expect(await bashOffers('com')).toEqual(['completions']);
  expect(await bashOffers('')).toEqual(expect.arrayContaining(['fetch', 'call', 'mcp', 'doctor']));
  expect(await bashOffers('mcp', '--wo')).toEqual(['--workspace']);
  expect(await bashOffers('call', '--jso')).toEqual(['--json', '--jsonl']);
  expect(await bashOffers('mcp', '--config', 'scr')).toEqual(['script']);
  expect(await bashOffers('crawl', 'st')).toEqual(['start', 'status']);
  expect(await bashOffers('crawl', 'start', 'scr')).toEqual(['script']);
});

test.each(['zsh', 'fish'])('%s gets every command and flag', async shell => {
  const {stdout, code} = await runCliHere(['completions', shell]);
  expect(code).toBe(0);
  for (const word of ['fetch', 'mcp', 'workspace', 'jsonl', 'token-file', 'resume'])
    expect(stdout).toContain(word);
});

test.each([[[]], [['powershell']], [['bash', 'zsh']]])(
  '%j is a usage error that lists the shells',
  async argv => {
    const {code, stderr} = await runCliHere(['completions', ...argv]);
    expect(code).toBe(2);
    expect(stderr).toContain('bash, zsh, fish');
  },
);

test.each([
  [['fetsh'], 'There is no command "fetsh". Did you mean "fetch"? Try: forge-tools --help\n'],
  [['xyzzy'], 'There is no command "xyzzy". Try: forge-tools --help\n'],
  [
    ['call', 'read_file', '--workspce', '.'],
    'There is no flag --workspce here. Did you mean --workspace? Try: forge-tools call --help\n',
  ],
  [['doctor', '--zzz'], 'There is no flag --zzz here. Try: forge-tools doctor --help\n'],
  [['mcp', '--helpp'], 'There is no flag --helpp here. Did you mean --help? Try: forge-tools mcp --help\n'],
])('a slip of the keyboard is recognised: %j', async (argv, message) => {
  const {code, stderr} = await runCliHere(argv);
  expect(code).toBe(2);
  expect(stderr).toBe(message);
});
