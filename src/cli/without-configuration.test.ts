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

const LIST = [
  {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: {protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {name: 'test', version: '1'}},
  },
  {jsonrpc: '2.0', method: 'notifications/initialized'},
  {jsonrpc: '2.0', id: 2, method: 'tools/list'},
  {
    jsonrpc: '2.0',
    id: 3,
    method: 'tools/call',
    params: {name: 'write_file', arguments: {path: 'a.txt', content: 'a'}},
  },
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
      const {names, stderr} = await served([], {env: place().env, cwd});
      expect(names).toContain('web_fetch');
      expect(names).not.toContain('read_file');
      expect(stderr).toContain(`${cwd} is no project (name one with --workspace DIR)`);
    }
    const {cwd, env} = place();
    expect((await served(['--workspace', cwd], {env, cwd: '/nonexistent'})).names).toContain('read_file');
  });
});

describe('ruling H7: a file keeps its meaning', () => {
  test.each([
    ['', 0],
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

test('ruling H7: call works without a configuration, and says so', async () => {
  const {cwd, env} = place();
  writeFileSync(join(cwd, 'a.txt'), 'hello\n');
  const {code, stdout, stderr} = await runCliHere(['call', 'read_file', '{"path": "a.txt"}'], {cwd, env});
  expect(code).toBe(0);
  expect(stdout).toContain('hello');
  expect(stderr).toMatch(/^forge-tools: \d+ tools for .*profile "guarded", no configuration file.*\n$/);
});
