// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a client replaces such a name

import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {type CliOptions, runCliHere} from '../../test/support/run-cli-here.ts';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {createToolbox} from '../index.ts';
import {launcherOf, settingsFile, shellWords, windowsShellWords} from './client-settings.ts';
import {EXIT} from './command.ts';
import {forTerminal} from './console.ts';

const ADD = ['claude', 'mcp', 'add', 'forge-tools', '--', 'cmd', '/c', 'npx', '-y', 'forge-tools@1.2.3'];

test('policy: a command for a POSIX shell quotes what the shell would read', () => {
  expect(shellWords(['a', "it's", '{"b": 1}', '${workspaceFolder}'])).toBe(
    `a 'it'\\''s' '{"b": 1}' '\${workspaceFolder}'`,
  );
});

test('policy: a command for Windows has words that cmd.exe and PowerShell read alike', () => {
  expect(windowsShellWords(ADD)).toBe('claude mcp add forge-tools "--" cmd /c npx -y forge-tools@1.2.3');
  expect(windowsShellWords(['a', 'C:\\Users\\A B\\project', 'R&D'])).toBe(
    'a "C:\\Users\\A B\\project" "R&D"',
  );
});

test.each(['{"name": 1}', '%APPDATA%', '${workspaceFolder}', '`'])(
  'policy: for %j, which they read in two ways, there is no command for Windows',
  word => {
    expect(windowsShellWords(['code', word])).toBeUndefined();
  },
);

const NODE = 'C:\\Program Files\\nodejs\\node.exe';

test('policy: an entry starts this installation', () => {
  const program = ['/usr/bin/node', '/checkout/dist/bin/forge-tools.js'] as const;
  expect(launcherOf({program, version: '1.2.3', platform: 'linux'})).toEqual(program);
});

test('policy: an entry never holds a path into the cache of npx', () => {
  for (const script of [
    '/home/a/.npm/_npx/1f2e/node_modules/forge-tools/dist/bin/forge-tools.js',
    'C:\\npm\\_npx\\1f\\x.js',
  ]) {
    const launcher = {program: [NODE, script] as const, version: '1.2.3', platform: 'linux'};
    expect(launcherOf({...launcher, program: [NODE, script]})).toEqual(['npx', '-y', 'forge-tools@1.2.3']);
  }
});

test('policy: Windows starts npx by its shell', () => {
  const program = [NODE, 'C:\\npm\\_npx\\1f\\x.js'] as const;
  expect(launcherOf({program, version: '1.2.3', platform: 'win32'})).toEqual([
    'cmd',
    '/c',
    'npx',
    '-y',
    'forge-tools@1.2.3',
  ]);
});

test('policy: settings are where each system keeps them', () => {
  const environment = {env: {}, homeDir: '/Users/a', cwd: '/p', tempDir: '/tmp'};
  const file = (platform: string, env = {}) =>
    settingsFile('claude-desktop', 'user', {...environment, env}, platform);
  expect(file('darwin')).toBe('/Users/a/Library/Application Support/Claude/claude_desktop_config.json');
  expect(file('linux')).toBe('/Users/a/.config/Claude/claude_desktop_config.json');
  expect(file('linux', {XDG_CONFIG_HOME: '/c'})).toBe('/c/Claude/claude_desktop_config.json');
  expect(file('win32', {APPDATA: '/Users/a/AppData/Roaming'})).toBe(
    '/Users/a/AppData/Roaming/Claude/claude_desktop_config.json',
  );
  expect(settingsFile('codex', 'user', {...environment, env: {CODEX_HOME: '/x'}}, 'linux')).toBe(
    '/x/config.toml',
  );
  expect(settingsFile('codex', 'project', environment, 'linux')).toBeUndefined();
});

test('ruling D12 of escape sequences, the colours of our own pass, and nothing that a terminal acts on', () => {
  const own = '\u001b[1mbold\u001b[22m \u001b[36mcyan\u001b[39m\n\ttext\r';
  expect(forTerminal(own)).toBe(own);
  for (const hostile of [
    '\u001b]0;title\u0007',
    '\u001b]8;;http://evil.example/\u001b\\link',
    '\u001b[2J',
    '\u001b[31;1m',
    '\u001b[8m',
    '\u009b31m',
    '\u0090q\u009c',
    '\b\b\b',
    '\u202egnp.exe',
    '\u{e0041}',
    '\u001b\u001b[2J',
  ]) {
    expect(forTerminal(hostile)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e\u{e0000}-\u{e007f}]/u);
  }
});

const AT_TERMINAL: CliOptions = {answers: []};

describe('policy: what is misspelt is answered with what was meant', () => {
  test.each([
    [['--verion'], 'Did you mean "--version"?'],
    [['-v'], 'Did you mean "--version"?'],
    [['help', 'ftch'], 'Did you mean "fetch"?'],
    [['rusn'], 'Did you mean "runs"?'],
    [['call', 'list_files', '--jsno'], 'Did you mean --json?'],
    [['cache', 'lst'], 'Did you mean "list"?'],
    [['fetch', '--no-cahce', 'http://a.example/'], 'Did you mean --no-cache?'],
    [['fetch', '--from'], '--from needs a value. Try: forge-tools fetch --help'],
    [['fetch', '--from', '--out'], '--from needs a value.'],
    [['demo', 'x'], 'demo takes no arguments'],
    [['fetsh'], 'There is no command "fetsh". Did you mean "fetch"? Try: forge-tools --help\n'],
    [['xyzzy'], 'There is no command "xyzzy". Try: forge-tools --help\n'],
    [
      ['call', 'x', '--workspce', '.'],
      'no flag --workspce here. Did you mean --workspace? Try: forge-tools call --help\n',
    ],
    [['doctor', '--zzz'], 'There is no flag --zzz here. Try: forge-tools doctor --help\n'],
    [['mcp', '--helpp'], 'There is no flag --helpp here. Did you mean --help? Try: forge-tools mcp --help\n'],
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
  test('of a setting, with the line and the file', async () => {
    const file = join(temporaryDirectory(), 'config.toml');
    writeFileSync(file, '[tools]\nmode = "disabled"\n');
    const argv = ['call', 'web_fetch', '{"url": "http://a.example/"}', '--config', file];
    const {stderr} = await runCliHere(argv, {...AT_TERMINAL, cwd: temporaryDirectory()});
    expect(stderr).toContain(`Write mode = "enabled" below [tools] in ${file}.`);
  });

  test('of a workspace that is not there', async () => {
    const {code, stderr} = await runCliHere(['mcp', '--workspace', '/nonexistent/x']);
    expect({code, stderr}).toEqual({
      code: 3,
      stderr:
        'Configuration error: The workspace "/nonexistent/x" does not exist. Create the directory, or name another one.\n',
    });
  });

  test('of a token that is needed', async () => {
    const {stderr} = await runCliHere(['mcp', '--http', '0.0.0.0:0'], {
      ...AT_TERMINAL,
      cwd: temporaryDirectory(),
    });
    expect(stderr).toContain(
      'Set a token of at least 32 characters in FORGE_TOOLS_MCP_TOKEN, or bind to 127.0.0.1.',
    );
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

function fileOf(toml: string): string {
  const file = join(temporaryDirectory(), 'config.toml');
  writeFileSync(file, toml);
  return file;
}

describe.each(['disabled', 'parse_only'] as const)('H3: tools.mode = "%s" that is written down', mode => {
  test('stops `fetch`, also of a list and of headings', async () => {
    const file = fileOf(`[tools]\nmode = "${mode}"\n`);
    const url = 'http://127.0.0.1:1/';
    const expected = `"setting":"tools.mode"`;
    for (const extra of [[], ['--outline']]) {
      const {code, stderr, stdout} = await runCliHere(['fetch', url, '--config', file, ...extra]);
      expect(code).toBe(EXIT.failed);
      expect(stdout + stderr).toContain(expected);
    }
    const {stdout, stderr, code} = await runCliHere(['fetch', '--json', url, '--config', file]);
    expect(stdout + stderr).toContain('tool_disabled');
    expect(code).toBe(EXIT.failed);
  });

  test('stops the library', async () => {
    const toolbox = createToolbox({config: {tools: {mode, webfetch: {cache_dir: ''}}}});
    expect(await toolbox.webFetch({url: 'http://127.0.0.1:1/'})).toMatchObject({
      ok: false,
      error: {code: 'tool_disabled', details: {tool: 'web_fetch', setting: 'tools.mode'}},
    });
    await toolbox.close();
  });
});

test('H3: where no mode is written, a person may fetch', async () => {
  const toolbox = createToolbox({config: {tools: {webfetch: {cache_dir: ''}}}});
  expect(await toolbox.webFetch({url: 'http://127.0.0.1/'})).toMatchObject({error: {code: 'ssrf_blocked'}});
  await toolbox.close();
  const {stdout, stderr} = await runCliHere(['fetch', 'http://127.0.0.1/', '--config', fileOf('')]);
  expect(stdout + stderr).toContain('ssrf_blocked');
});

test.each([[['doctor']], [['config']], [['cache', 'stats']], [['tools']], [['fetch', 'http://a.example/']]])(
  'FR-WF-SEC-OVR-01: a guard that is disabled without its override stops %j',
  async argv => {
    const file = fileOf('[tools.webfetch.security]\nblock_loopback = false\n');
    const {code, stderr} = await runCliHere([...argv, '--config', file]);
    expect(code).toBe(EXIT.config);
    expect(stderr).toContain('SSRF protection cannot be disabled without allow_insecure_overrides=true');
  },
);

describe('FR-WF-05b: what start-up warns about', () => {
  const file = () =>
    fileOf(
      '[tools]\nmode = "enabled"\nmodus = 1\n[tools.webfetch]\ntimeout_seconds = 100000\n[tools.webfetch.security]\nblock_loopback = false\nallow_insecure_overrides = true\n',
    );

  test('is said in sentences on a terminal', async () => {
    const {stderr} = await runCliHere(['tools', '--config', file()], {answers: [], cwd: '/tmp'});
    expect(stderr).toMatch(/^Warning: .*modus is not a known key/m);
    expect(stderr).toMatch(/^Warning: .*timeout_seconds = 100000 is outside/m);
    expect(stderr).toMatch(/^Warning: SSRF protection disabled for: block_loopback$/m);
    expect(stderr).not.toContain('"event"');
  });

  test('is said in a script too, and is a line of the log where a level is asked for', async () => {
    const cwd = temporaryDirectory();
    const {stderr} = await runCliHere(['tools', '--config', file()], {cwd});
    expect(stderr).toMatch(/^Warning: .*modus is not a known key/m);
    expect(stderr).not.toContain('"event"');
    const logged = await runCliHere(['tools', '--config', file(), '--log-level', 'warn'], {cwd});
    expect(logged.stderr).toContain('"event":"config_warning"');
    const quiet = await runCliHere(['tools', '--config', file(), '--log-level', 'error'], {
      answers: [],
      cwd,
    });
    expect(quiet.stderr).toBe('');
  });
});
