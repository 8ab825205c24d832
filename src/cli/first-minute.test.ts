import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {type CliOptions, runCliHere} from '../../test/support/run-cli-here.ts';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';

const AT_TERMINAL: CliOptions = {answers: []};

describe('policy: what is misspelt is answered with what was meant', () => {
  test.each([
    [['--verion'], 'Did you mean "--version"?'],
    [['-v'], 'Did you mean "--version"?'],
    [['ftch'], 'Did you mean "fetch"?'],
    [['help', 'ftch'], 'Did you mean "fetch"?'],
    [['cache', 'lst'], 'Did you mean "list"?'],
    [['fetch', '--no-cahce', 'http://a.example/'], 'Did you mean --no-cache?'],
    [['fetch', '--from'], '--from needs a value. Try: forge-tools fetch --help'],
    [['fetch', '--from', '--out'], '--from needs a value.'],
    [['demo', 'x'], 'demo takes no arguments'],
  ])('%j', async (argv, text) => {
    const {code, stderr} = await runCliHere(argv);
    expect(code).toBe(2);
    expect(stderr).toContain(text);
  });
});

describe('policy: an address without its scheme', () => {
  test.each([
    ['example.com', 'https://example.com/ ?'],
    ['example.com/a?b=c', 'https://example.com/a?b=c ?'],
    ['localhost:8080', 'https://localhost:8080/ ?'],
  ])('%s suggests one', async (written, meant) => {
    const {code, stderr} = await runCliHere(['fetch', written], AT_TERMINAL);
    expect(code).toBe(1);
    expect(stderr).toContain(`Did you mean ${meant}\n`);
  });

  test.each(['ftp://example.com/', 'mailto:a@example.com', '/etc/passwd', 'a b'])(
    '%s does not',
    async written => {
      expect((await runCliHere(['fetch', written], AT_TERMINAL)).stderr).not.toContain('Did you mean');
    },
  );

  test('a program gets the envelope alone', async () => {
    const {stderr} = await runCliHere(['fetch', 'example.com']);
    expect(JSON.parse(stderr)).toMatchObject({code: 'invalid_url'});
  });
});

describe('policy: commands are quiet', () => {
  test('no log line in a script, unless a level asks for it', async () => {
    const url = 'http://127.0.0.1/';
    const {stderr} = await runCliHere(['fetch', url]);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(JSON.parse(stderr)).toMatchObject({code: 'ssrf_blocked'});
    expect((await runCliHere(['fetch', url, '--log-level', 'info'])).stderr).toContain(
      '"event":"ssrf_blocked"',
    );
  });
});

describe('policy: a person reads sentences for a person', () => {
  test('of a setting, at a terminal only', async () => {
    const file = join(temporaryDirectory(), 'config.toml');
    writeFileSync(file, '[tools]\nmode = "disabled"\n');
    const argv = ['call', 'web_fetch', '{"url": "http://a.example/"}', '--config', file];
    const {stderr} = await runCliHere(argv, {...AT_TERMINAL, cwd: temporaryDirectory()});
    expect(stderr).toContain('Change it in the configuration; "forge-tools config" says which file that is.');
    expect(stderr).not.toContain('operator');
    expect((await runCliHere(argv, {cwd: temporaryDirectory()})).stderr).toContain(
      'Have the operator change',
    );
  });

  test('of a workspace that is not there', async () => {
    const {code, stderr} = await runCliHere(['mcp', '--workspace', '/nonexistent/x']);
    expect({code, stderr}).toEqual({
      code: 3,
      stderr: 'Configuration error: There is no "/nonexistent/x". Correct the path.\n',
    });
  });

  test('of a token that is needed', async () => {
    const {stderr} = await runCliHere(['mcp', '--http', '0.0.0.0:0'], {
      ...AT_TERMINAL,
      cwd: temporaryDirectory(),
    });
    expect(stderr).toContain('Choose the token in the environment variable FORGE_MCP_TOKEN');
  });
});

describe('policy: help is as wide as the terminal', () => {
  test.each([['--help'], ['fetch', '--help'], ['call', '--help'], ['mcp', '--help'], ['setup', '--help']])(
    '%s %s',
    async (...argv) => {
      const {stdout} = await runCliHere(argv, AT_TERMINAL);
      const usage = /^(?:Usage| {2}forge-tools)/;
      const lines = stdout.split('\n').filter(line => !usage.test(line));
      expect(lines.filter(line => line.length > 80)).toEqual([]);
      // The same words as a program gets, which has its lines whole.
      const words = (text: string): string => text.replace(/\s+/g, ' ');
      expect(words(stdout)).toBe(words((await runCliHere(argv)).stdout));
    },
  );
});
