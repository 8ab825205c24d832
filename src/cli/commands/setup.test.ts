// biome-ignore-all lint/suspicious/noTemplateCurlyInString: clients replace such names

import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {parse} from 'smol-toml';
import {describe, expect, test} from 'vitest';
import {needs} from '../../../test/support/parts.ts';
import {type CliOptions, runCliHere} from '../../../test/support/run-cli-here.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {CLIENTS} from '../clients.data.ts';

const SERVER = fileURLToPath(new URL('../../../test/support/mcp-server-alone.js', import.meta.url));
const NODE = process.execPath;
const PROGRAM = [NODE, SERVER] as const;
const START = [SERVER, 'mcp'];

function place() {
  const homeDir = temporaryDirectory();
  return {homeDir, cwd: temporaryDirectory()};
}

function setup(argv: readonly string[], options: CliOptions) {
  return runCliHere(['setup', ...argv], {program: PROGRAM, ...options});
}

/** client → what its makers document: the file on this system, and the entry. */
const SHAPES = {
  'claude-code': {
    file: 'CWD/.mcp.json',
    settings: {mcpServers: {'forge-tools': {type: 'stdio', command: NODE, args: START}}},
  },
  'claude-desktop': {
    file: 'HOME/.config/Claude/claude_desktop_config.json',
    settings: {mcpServers: {'forge-tools': {command: NODE, args: [...START, '--workspace', 'CWD']}}},
  },
  cursor: {
    file: 'HOME/.cursor/mcp.json',
    settings: {
      mcpServers: {
        'forge-tools': {type: 'stdio', command: NODE, args: [...START, '--workspace', '${workspaceFolder}']},
      },
    },
  },
  vscode: {
    file: 'HOME/.config/Code/User/mcp.json',
    settings: {
      servers: {
        'forge-tools': {type: 'stdio', command: NODE, args: [...START, '--workspace', '${workspaceFolder}']},
      },
    },
  },
  codex: {
    file: 'HOME/.codex/config.toml',
    settings: {
      mcp_servers: {
        'forge-tools': {command: NODE, args: START, startup_timeout_sec: 60, tool_timeout_sec: 600},
      },
    },
  },
  gemini: {
    file: 'HOME/.gemini/settings.json',
    settings: {mcpServers: {'forge-tools': {command: NODE, args: START, timeout: 600_000}}},
  },
  copilot: {
    file: 'HOME/.copilot/mcp-config.json',
    settings: {mcpServers: {'forge-tools': {type: 'local', command: NODE, args: START, tools: ['*']}}},
  },
  windsurf: {
    file: 'HOME/.codeium/windsurf/mcp_config.json',
    settings: {mcpServers: {'forge-tools': {command: NODE, args: [...START, '--workspace', 'CWD']}}},
  },
  cline: {
    file: 'HOME/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json',
    settings: {
      mcpServers: {'forge-tools': {command: NODE, args: [...START, '--workspace', 'CWD'], timeout: 600}},
    },
  },
  zed: {
    file: 'HOME/.config/zed/settings.json',
    settings: {
      context_servers: {
        'forge-tools': {source: 'custom', command: NODE, args: [...START, '--workspace', 'CWD']},
      },
    },
  },
};

function at<Value>(value: Value, {homeDir, cwd}: {homeDir: string; cwd: string}): Value {
  return JSON.parse(JSON.stringify(value).replaceAll('HOME', homeDir).replaceAll('CWD', cwd));
}

function read(file: string): unknown {
  const text = readFileSync(file, 'utf8');
  return file.endsWith('.toml') ? parse(text) : JSON.parse(text);
}

test('policy: every client has its shape here', () => {
  expect(Object.keys(SHAPES)).toEqual(CLIENTS);
});

// The places below are those of Linux.
describe.each(Object.entries(SHAPES))('setup %s', needs('Linux'), (client, shape) => {
  test('prints the entry, where it goes, and changes nothing', async () => {
    const here = place();
    const {code, stdout, stderr} = await setup([client], here);
    expect(code).toBe(0);
    const {file, settings} = at(shape, here);
    expect(file.endsWith('.toml') ? parse(stdout) : JSON.parse(stdout)).toEqual(settings);
    expect(stderr).toContain(JSON.stringify(file));
    expect(existsSync(file)).toBe(false);
  });

  test('--write makes the file, shows what changes, and does nothing the second time', async () => {
    const here = place();
    const {file, settings} = at(shape, here);
    const {code, stdout} = await setup([client, '--write'], here);
    expect(code).toBe(0);
    expect(read(file)).toEqual(settings);
    expect(stdout).toMatch(/^\+.*mcp-server-alone\.js/m);
    expect(readdirSync(dirname(file))).toHaveLength(1);
    const again = await setup([client, '--write'], here);
    expect(again.code).toBe(0);
    expect(again.stdout).toContain('has the entry already');
  });

  test('--write keeps what is in the file', async () => {
    const here = place();
    const {file, settings} = at(shape, here);
    mkdirSync(dirname(file), {recursive: true});
    const [key = ''] = Object.keys(settings);
    const isToml = file.endsWith('.toml');
    const before = isToml
      ? `# mine\nmodel = "x" # and why\n\n[${key}.other]\ncommand = "a"\n\n[${key}.forge-tools]\ncommand = "old"\nargs = []\n\n# theirs\n[tui]\ntheme = "b"\n`
      : `{\n    "theme": "\\u00e9",\n    "${key}": {\n        "other": {"command": "a"},\n        "forge-tools": {"command": "old"}\n    },\n    "last": 1\n}`;
    writeFileSync(file, before, {mode: 0o640});
    expect((await setup([client, '--write'], here)).code).toBe(0);
    const [ours] = Object.values(settings as unknown as Record<string, Record<string, unknown>>);
    expect(read(file)).toEqual({
      ...(isToml ? {model: 'x', tui: {theme: 'b'}} : {theme: 'é', last: 1}),
      [key]: {other: {command: 'a'}, ...ours},
    });
    const text = readFileSync(file, 'utf8');
    if (isToml) expect(text).toMatch(/^# mine\nmodel = "x" # and why\n[\s\S]*# theirs\n\[tui\]/);
    else expect(text).toMatch(/^\{\n {4}"theme"[\s\S]*[^\n]$/);
    expect(statSync(file).mode & 0o777).toBe(0o640);
  });
});

describe('setup --write leaves alone', () => {
  test.each([
    ['comments', '{\n  // mine\n  "mcpServers": {}\n}\n', 'has comments'],
    ['a trailing comma', '{"mcpServers": {},}', 'is not plain JSON'],
    ['an array', '[]', 'is not a JSON object'],
    ['servers that are no object', '{"mcpServers": []}', 'not an object'],
    ['a number that would change', '{"id": 12345678901234567890}', 'would change'],
    ['a number in another form', '{"zoom": 1.0}', 'would change'],
    ['a name that is there twice', '{"a": 1, "a": 2}', 'would change'],
  ])('a file with %s', async (_, before, reason) => {
    const here = place();
    const file = join(here.homeDir, '.gemini/settings.json');
    mkdirSync(dirname(file));
    writeFileSync(file, before);
    const {code, stderr} = await setup(['gemini', '--write'], here);
    expect(code).toBe(1);
    expect(stderr).toContain(reason);
    // What to add by hand.
    expect(stderr).toContain('mcp-server-alone.js');
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  test.each([
    ['no TOML', 'a = \n', 'is not TOML'],
    ['servers in one line', 'mcp_servers = {a = {command = "b"}}\n', 'takes no further table'],
    [
      'an entry with tables of its own',
      '[mcp_servers.forge-tools]\ncommand = "a"\n[mcp_servers.forge-tools.env]\nA = "b"\n',
      'takes no further table',
    ],
  ])('a file with %s', async (_, before, reason) => {
    const here = place();
    const file = join(here.homeDir, '.codex/config.toml');
    mkdirSync(dirname(file));
    writeFileSync(file, before);
    const {code, stderr} = await setup(['codex', '--write'], here);
    expect({code, stderr}).toEqual({code: 1, stderr: expect.stringContaining(reason)});
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  test('what a link of the project leads to', async () => {
    const here = place();
    const target = join(here.homeDir, 'theirs.json');
    writeFileSync(target, '{}');
    symlinkSync(target, join(here.cwd, '.mcp.json'));
    const {code, stderr} = await setup(['claude-code', '--write'], here);
    expect({code, stderr}).toEqual({code: 1, stderr: expect.stringContaining('symbolic link')});
    expect(readFileSync(target, 'utf8')).toBe('{}');
    symlinkSync(here.homeDir, join(here.cwd, '.cursor'));
    expect((await setup(['cursor', '--project', '--write'], here)).code).toBe(1);
    expect(existsSync(join(here.homeDir, 'mcp.json'))).toBe(false);
  });
});

test('setup --write keeps what else is in our entry, and refuses to lose a flag of it', async () => {
  const here = place();
  const file = join(here.homeDir, '.cursor/mcp.json');
  mkdirSync(dirname(file));
  const write = (entry: object) => writeFileSync(file, JSON.stringify({mcpServers: {'forge-tools': entry}}));
  write({command: 'old', args: ['mcp'], env: {FORGE_TOOLS_CONFIG: '/etc/forge.toml'}, disabled: true});
  expect((await setup(['cursor', '--write'], here)).code).toBe(0);
  expect(JSON.parse(readFileSync(file, 'utf8')).mcpServers['forge-tools']).toMatchObject({
    command: NODE,
    env: {FORGE_TOOLS_CONFIG: '/etc/forge.toml'},
    disabled: true,
  });
  write({command: 'old', args: ['mcp', '--profile', 'read-only', '--config', '/c']});
  const before = readFileSync(file, 'utf8');
  const {code, stderr} = await setup(['cursor', '--write'], here);
  expect({code, stderr}).toEqual({
    code: 1,
    stderr: expect.stringContaining('--profile read-only and --config /c'),
  });
  expect(readFileSync(file, 'utf8')).toBe(before);
});

test('review: setup opens no home directory that was not named', async () => {
  const argv = ['setup', 'claude-desktop'];
  const {homeDir} = place();
  const {code, stderr} = await runCliHere(argv, {cwd: homeDir, homeDir});
  expect({code, stderr}).toEqual({code: 2, stderr: expect.stringContaining('--workspace DIR')});
  expect((await runCliHere([...argv, '--workspace', '.'], {cwd: homeDir, homeDir})).code).toBe(0);
});

test('setup reads no link of a project, and no link that leads nowhere', async () => {
  const here = place();
  symlinkSync('/dev/zero', join(here.cwd, '.mcp.json'));
  expect(await setup(['claude-code', '--write'], here)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is a symbolic link'),
  });
  mkdirSync(join(here.homeDir, '.cursor'));
  symlinkSync(join(here.homeDir, 'gone/mcp.json'), join(here.homeDir, '.cursor/mcp.json'));
  expect(await setup(['cursor', '--write'], here)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is a link that leads nowhere'),
  });
});

test('setup --write keeps the link of a user who manages settings elsewhere', async () => {
  const here = place();
  mkdirSync(join(here.homeDir, '.cursor'));
  const target = join(here.homeDir, 'dotfiles.json');
  writeFileSync(target, '{}');
  symlinkSync(target, join(here.homeDir, '.cursor/mcp.json'));
  expect((await setup(['cursor', '--write'], here)).code).toBe(0);
  expect(readFileSync(target, 'utf8')).toContain('forge-tools');
});

test('setup puts the flags of the session into the entry, with paths that hold wherever it is started', async () => {
  const here = place();
  mkdirSync(join(here.cwd, 'src'));
  const flags = ['--profile', 'trusted', '--config', 'c.toml', '--allow', 'run', '--groups', 'core'];
  const {stdout, stderr} = await setup(['vscode', '--project', '--workspace', 'src', ...flags], here);
  expect(JSON.parse(stdout).servers['forge-tools']).toEqual({
    type: 'stdio',
    command: NODE,
    args: [
      ...START,
      '--workspace',
      join(here.cwd, 'src'),
      '--profile',
      'trusted',
      '--config',
      join(here.cwd, 'c.toml'),
      ...flags.slice(4),
    ],
  });
  expect(stderr).toContain(join(here.cwd, '.vscode/mcp.json'));
});

describe('setup --write starts the entry once before it writes', () => {
  test('and says how many tools it offers', async () => {
    const {code, stdout} = await setup(['cursor', '--write'], place());
    expect(code).toBe(0);
    expect(stdout).toContain('Written. It was started once: 1 tool.');
  });

  test.each<readonly [string, readonly string[], Partial<CliOptions>]>([
    ['ENOENT', [], {program: ['/nonexistent/node', 'x.js']}],
    ['The configuration is wrong.', ['--groups', 'broken'], {}],
    ['it offers no tool', ['--groups', 'none'], {}],
  ])('and writes nothing where it does not work: %s', async (why, flags, options) => {
    const here = place();
    const {code, stdout, stderr} = await setup(['cursor', '--write', ...flags], {...here, ...options});
    expect({code, stderr}).toEqual({code: 1, stderr: expect.stringContaining(why)});
    expect(stderr).toContain('Nothing was written.');
    expect(stdout).not.toContain('Written.');
    expect(existsSync(join(here.homeDir, '.cursor/mcp.json'))).toBe(false);
  });

  test('and refuses a workspace that is not there, with or without --write', async () => {
    const here = place();
    writeFileSync(join(here.cwd, 'file'), '');
    for (const write of [[], ['--write']]) {
      const missing = await setup(['claude-desktop', ...write, '--workspace', 'gone'], here);
      expect(missing).toMatchObject({code: 2, stderr: expect.stringContaining('/gone" does not exist.')});
      const file = await setup(['claude-desktop', ...write, '--workspace', 'file'], here);
      expect(file).toMatchObject({code: 2, stderr: expect.stringContaining('/file" is not a directory.')});
    }
  });
});

test.each([
  ['claude-code', 'claude mcp add --scope user forge-tools -- npx -y forge-tools@0.0.0-test mcp'],
  ['codex', 'codex mcp add forge-tools -- npx -y forge-tools@0.0.0-test mcp'],
  ['gemini', 'gemini mcp add --scope user forge-tools npx -- -y forge-tools@0.0.0-test mcp'],
  ['vscode', `code --add-mcp '{"name":"forge-tools","type":"stdio","command":"npx","args":["-y"`],
])('setup %s names the command that the client has for it', async (client, command) => {
  const program = ['/usr/bin/node', '/home/a/.npm/_npx/1f/forge-tools.js'] as const;
  expect((await setup([client], {...place(), program})).stderr).toContain(`Or run: ${command}`);
});

test.each([
  [[], 'setup takes one client'],
  [['cursr'], 'Did you mean "cursor"?'],
  [['claude'], 'Did you mean "claude-code"?'],
  [['codex', '--project'], 'no settings for one project'],
])('setup %j is wrong usage', async (argv, text) => {
  expect(await setup(argv, place())).toMatchObject({code: 2, stderr: expect.stringContaining(text)});
});

describe('red team F21: setup --write', () => {
  const cursor = (homeDir: string, before: string) => {
    const file = join(homeDir, '.cursor/mcp.json');
    mkdirSync(dirname(file));
    writeFileSync(file, before);
    return file;
  };

  test.each([['--workspace', '/srv/only-this'], ['--workspace=/srv/only-this']])(
    'does not replace the value of a flag: %s',
    async (...args) => {
      const {homeDir, cwd} = place();
      const before = JSON.stringify({mcpServers: {'forge-tools': {command: NODE, args: ['mcp', ...args]}}});
      const file = cursor(homeDir, before);
      const run = await setup(['cursor', '--write'], {homeDir, cwd});
      expect(run.code).toBe(1);
      expect(run.stderr).toContain('has an entry with --workspace /srv/only-this, which the new one lacks');
      expect(readFileSync(file, 'utf8')).toBe(before);
    },
  );

  test('keeps line ends, byte order mark, permission bits and owner', async () => {
    const {homeDir, cwd} = place();
    const file = cursor(homeDir, '\uFEFF{\r\n  "z": 1\r\n}\r\n');
    chmodSync(file, 0o664);
    if (process.getuid?.() === 0) chownSync(file, 1234, 1235);
    const {uid, gid} = statSync(file);
    expect((await setup(['cursor', '--write'], {homeDir, cwd})).code).toBe(0);
    const text = readFileSync(file, 'utf8');
    expect(text.startsWith('\uFEFF{\r\n  "z": 1,\r\n')).toBe(true);
    expect(text).not.toMatch(/(?<!\r)\n/);
    expect(statSync(file)).toMatchObject({uid, gid});
    expect(statSync(file).mode & 0o777).toBe(0o664);
  });

  test('keeps line ends and comments of TOML, those within the entry too', async () => {
    const {homeDir, cwd} = place();
    const file = join(homeDir, '.codex/config.toml');
    mkdirSync(dirname(file));
    // biome-ignore format: a list
    const lines = [
      '# mine', 'a = 1', '', '[mcp_servers.forge-tools] # head', '# why', 'command = "old#1" # old', '',
      '# of b', '[b]', '',
    ];
    writeFileSync(file, `\uFEFF${lines.join('\r\n')}`);
    expect((await setup(['codex', '--write'], {homeDir, cwd})).code).toBe(0);
    const text = readFileSync(file, 'utf8');
    expect(text.startsWith('\uFEFF# mine\r\na = 1\r\n')).toBe(true);
    expect(text).not.toMatch(/(?<!\r)\n/);
    expect(text).toContain('# of b\r\n[b]\r\n\r\n# head\r\n# why\r\n# old\r\n[mcp_servers.forge-tools]\r\n');
  });
});

test('policy: the diff of an entry names its file as git does', async () => {
  const {stdout} = await setup(['cursor', '--write'], place());
  expect(stdout).toMatch(/^diff --git a\/[^/]/m);
  expect(stdout).not.toContain('a//');
});
