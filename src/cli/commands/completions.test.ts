import {execFileSync} from 'node:child_process';
import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {runCliHere} from '../../../test/support/run-cli-here.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';

/** What bash offers for the last word of a line. The script's own call of the program is answered from here. */
async function bashOffers(...words: readonly string[]): Promise<readonly string[]> {
  const {stdout: script} = await runCliHere(['completions', 'bash']);
  const line = ['completions', 'ask', '--', 'forge-tools', ...words];
  const {stdout: answer} = await runCliHere(line);
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'script'), script);
  writeFileSync(join(directory, 'answer'), answer);
  const program = `
    . ./script
    compopt() { :; }
    forge-tools() { printf '%s\\n' "$@" > asked; cat answer; }
    COMP_WORDS=(forge-tools "$@"); COMP_CWORD=$#
    _forge_tools; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const offered = execFileSync('bash', ['-c', program, 'bash', ...words], {cwd: directory, encoding: 'utf8'});
  expect(readFileSync(join(directory, 'asked'), 'utf8')).toBe(`${line.join('\n')}\n`);
  return offered.trim().split('\n');
}

test('bash completes commands, the flags of a command and files', {tags: 'slow'}, async () => {
  expect(await bashOffers('com')).toEqual(['completions']);
  expect(await bashOffers('')).toEqual(expect.arrayContaining(['fetch', 'call', 'mcp', 'doctor']));
  expect(await bashOffers('mcp', '--wo')).toEqual(['--workspace']);
  expect(await bashOffers('mcp', '--profile', 'g')).toEqual(['guarded']);
  expect(await bashOffers('mcp', '--drain', '')).toEqual(['']);
  expect(await bashOffers('call', '--jso')).toEqual(['--json', '--jsonl']);
  expect(await bashOffers('mcp', '--config', 'scr')).toEqual(['script']);
  expect(await bashOffers('crawl', 'st')).toEqual(['start', 'status']);
  expect(await bashOffers('crawl', 'start', 'scr')).toEqual(['script']);
});

test.each(['zsh', 'fish'])('the script of %s asks the program', async shell => {
  const {stdout, code} = await runCliHere(['completions', shell]);
  expect({code, stdout}).toEqual({
    code: 0,
    stdout: expect.stringContaining('forge-tools completions ask -- '),
  });
});

test.each([[[]], [['powershell']], [['bash', 'zsh']]])(
  '%j is a usage error that lists the shells',
  async argv => {
    const {code, stderr} = await runCliHere(['completions', ...argv]);
    expect(code).toBe(2);
    expect(stderr).toContain('bash, zsh, fish');
  },
);
