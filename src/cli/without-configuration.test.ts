import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {PassThrough} from 'node:stream';
import {describe, expect, test} from 'vitest';
import {type CliOptions, runCliHere} from '../../test/support/run-cli-here.ts';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';

function place() {
  const cwd = temporaryDirectory();
  return {cwd, env: {XDG_STATE_HOME: temporaryDirectory()}};
}

// biome-ignore format: a case is a line
const LIST = [
  {jsonrpc: '2.0', id: 1, method: 'initialize', params: {protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {name: 'test', version: '1'}}},
  {jsonrpc: '2.0', method: 'notifications/initialized'},
  {jsonrpc: '2.0', id: 2, method: 'tools/list'},
  {jsonrpc: '2.0', id: 3, method: 'tools/call', params: {name: 'write_file', arguments: {path: 'a.txt', content: 'a'}}},
];

/** Starts `mcp` for a client that cannot be asked, and returns what it was told. */
async function served(argv: readonly string[], options: CliOptions) {
  const input = new PassThrough();
  input.write(LIST.map(message => `${JSON.stringify(message)}\n`).join(''));
  const {code, stdout, stderr} = await runCliHere(['mcp', ...argv], {
    input,
    onStdout: text => {
      if (text.includes('"id":3')) input.end();
    },
    ...options,
  });
  expect(code).toBe(0);
  const answers = stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));
  const result = (id: number) => answers.find(answer => answer.id === id)?.result;
  return {names: result(2).tools.map((tool: {name: string}) => tool.name), written: result(3), stderr};
}

describe('ruling H7: mcp without a configuration', () => {
  test('offers every tool for the current folder, and says in one line what is on', async () => {
    const {cwd, env} = place();
    const {names, written, stderr} = await served([], {cwd, env});
    expect(names).toEqual(expect.arrayContaining(['web_fetch', 'read_file', 'write_file', 'run']));
    expect(written.isError).toBe(true);
    expect(written.content[0].text).toMatch(/forge-tools approve \w+ .*--profile trusted/);
    const [line = '', ...more] = stderr.trim().split('\n');
    expect(more).toEqual([]);
    const {event, message} = JSON.parse(line);
    expect(event).toBe('tools_offered');
    expect(message).toContain(`${names.length} tools for ${cwd}; profile "guarded", no configuration file`);
    expect(message).toContain(
      'calls with side effects are asked about, and refused where there is no one to ask',
    );
    expect(message).toContain(`runs are kept in ${env.XDG_STATE_HOME}/forge-tools/runs`);
  });

  test('says it in a sentence at a terminal', async () => {
    const {stderr} = await served([], {...place(), answers: []});
    expect(stderr).toMatch(/^forge-tools: \d+ tools for \/.*; profile "guarded"/);
  });

  test('--profile trusted writes without asking, --profile read-only offers nothing that writes', async () => {
    const trusted = await served(['--profile', 'trusted'], place());
    expect(trusted.written.isError ?? false).toBe(false);
    expect(trusted.stderr).toContain('run without asking, but for what is denied');
    const reading = await served(['--profile', 'read-only'], place());
    expect(reading.names).not.toContain('write_file');
    expect(reading.names).toContain('read_file');
    expect(reading.written.content[0].text).toContain('tools.access');
  });

  test('opens nothing of the home directory, or above it, that was not named', async () => {
    for (const cwd of ['/nonexistent', '/']) {
      const {names, stderr} = await served([], {...place(), cwd, homeDir: '/nonexistent'});
      expect(names).toContain('web_fetch');
      expect(names).not.toContain('read_file');
      expect(stderr).toContain(
        `File tools and run are off: ${cwd} is not a project. Start with --workspace DIR.`,
      );
    }
    const {cwd, env} = place();
    expect((await served(['--workspace', cwd], {env, cwd: '/nonexistent'})).names).toContain('read_file');
  });
});

describe('ruling H7: a file that sets one thing changes one thing', () => {
  test.each([
    '',
    '# nothing\n',
    '[tools]\n',
    '[tools.webfetch]\ntimeout_seconds = 30\n',
    '[tools.webfetch.security]\nallowed_ports = [80, 443, 8080]\n',
    '[[tools.webfetch.allow_private]]\nhost = "localhost"\ncidr = "127.0.0.0/8"\nports = [3000]\n',
    '[tools.webread]\nmode = "reader"\n',
    '[tools.run]\nsandbox = "auto"\n',
    '[tools.approval]\nmode = "auto"\n',
    '[[tools.approval.rules]]\ntool = "run"\ndecision = "ask"\ncommand_prefix = "rm"\n',
    '[tools.taint]\nmode = "off"\n',
    '[tools.output]\nmax_bytes = 50000\n',
    '[tools.mcp]\nmax_result_bytes = 50000\n',
    'profile = "guarded"\n',
    'profile = "trusted"\n',
  ])('%j leaves the 18 tools', async toml => {
    const {cwd, env} = place();
    const file = join(temporaryDirectory(), 'config.toml');
    writeFileSync(file, toml);
    const {names} = await served(['--config', file], {cwd, env});
    expect(names).toHaveLength(18);
  });

  test.each([
    ['[tools]\nmode = "disabled"\n', 'write_file', 'mode = "enabled" below [tools]'],
    ['profile = "read-only"\n', 'write_file', 'access = "all" below [tools]'],
    ['[tools.run]\nenabled = false\n', 'run', 'enabled = true below [tools.run]'],
    ['[tools.webfetch]\nenabled = false\n', 'web_read', 'enabled = true below [tools.webfetch]'],
    ['[tools.webread]\nenabled = false\n', 'web_read', 'enabled = true below [tools.webread]'],
    ['[tools]\ngroups = ["core"]\n', 'web_fetch', 'groups = ["core","web"] below [tools]'],
  ])(
    '%j: what turns a tool on is in the failure, the start line, tools and doctor',
    async (toml, tool, line) => {
      const {cwd, env} = place();
      const file = join(temporaryDirectory(), 'config.toml');
      writeFileSync(file, toml);
      const options = {cwd, env};
      const expected = `Write ${line} in ${file}.`;
      const inJson = JSON.stringify(expected).slice(1, -1);
      const argv = ['--config', file];
      expect((await served(argv, {cwd, env})).stderr).toContain(inJson);
      expect((await runCliHere(['call', tool, '{}', ...argv], options)).stderr).toContain(inJson);
      expect((await runCliHere(['tools', ...argv], options)).stderr).toContain(expected);
      expect((await runCliHere(['doctor', ...argv], options)).stdout).toContain(expected);
    },
  );

  test('a group that --groups leaves out is turned on by the flag', async () => {
    const {cwd, env} = place();
    const {stderr} = await runCliHere(['call', 'web_fetch', '{}', '--groups', 'core'], {cwd, env});
    expect(stderr).toContain(
      '"message":"web_fetch is off: --groups leaves out \\"web\\". Start with --groups core,web."',
    );
  });

  test.each([
    ['[tools]\nmode = "disabled"\n', 0],
    ['profile = "trusted"\n[tools]\nmode = "disabled"\n', 0],
    ['[tools]\nmode = "enabled"\n[tools.run]\nenabled = false\n', 1],
  ])('%j', async (toml, least) => {
    const {cwd, env} = place();
    const file = join(temporaryDirectory(), 'config.toml');
    writeFileSync(file, toml);
    const {names, written} = await served(['--config', file], {cwd, env});
    expect(names.length).toBeGreaterThanOrEqual(least);
    expect(names).not.toContain('run');
    expect(names).not.toContain('web_fetch');
    expect(written.isError).toBe(true);
  });

  test('--profile fills what it leaves open, and overrides nothing of it', async () => {
    const {cwd, env} = place();
    const file = join(temporaryDirectory(), 'config.toml');
    writeFileSync(file, 'profile = "trusted"\n[tools.webfetch]\nenabled = false\n');
    const argv = ['--config', file, '--profile', 'read-only'];
    const {names} = await served(argv, {cwd, env});
    expect(names).toContain('read_file');
    expect(names).not.toContain('web_fetch');
    expect(names).not.toContain('write_file');
  });
});

test('in the home directory unknown_tool says why there are no file tools, with a configuration file too', async () => {
  const home = temporaryDirectory();
  const file = join(home, 'config.toml');
  writeFileSync(file, 'profile = "guarded"\n');
  for (const argv of [[], ['--config', file]]) {
    const {code, stderr} = await runCliHere(['call', 'list_files', ...argv], {cwd: home, homeDir: home});
    expect(code).toBe(1);
    expect(stderr).toContain(
      `The tools are web_fetch, web_read, verify_quote. File tools and run are off: ${home} is not a project. Start with --workspace DIR.`,
    );
  }
});

test.each([
  ['move_file', 0],
  ['patch_file', 0],
  ['write_file', 1],
])('--allow %s: names of tools and actions are taken', async (allow, expected) => {
  const {cwd, env} = place();
  writeFileSync(join(cwd, 'a.txt'), 'hello\n');
  const params = JSON.stringify({from: 'a.txt', to: 'b.txt'});
  const {code} = await runCliHere(['call', 'move_file', params, '--allow', allow], {cwd, env});
  expect(code).toBe(expected);
});

test('ruling H7: call works without a configuration, and says so', async () => {
  const {cwd, env} = place();
  writeFileSync(join(cwd, 'a.txt'), 'hello\n');
  const {code, stdout, stderr} = await runCliHere(['call', 'read_file', '{"path": "a.txt"}'], {cwd, env});
  expect(code).toBe(0);
  expect(stdout).toContain('hello');
  expect(stderr).toMatch(/^forge-tools: \d+ tools for .*profile "guarded", no configuration file.*\n$/);
});
