import {parse} from 'smol-toml';
import {expect, test} from 'vitest';
import {runCliHere} from '../../../test/support/run-cli-here.ts';
import {CLIENTS} from './clients.data.ts';

const COMMAND = '/usr/bin/node';
const ARGS = ['/opt/forge tools/forge-tools.js', 'mcp', '--workspace', '/home/a/project', '--allow', 'run'];

async function printed(client: string): Promise<string> {
  const argv = ['mcp', '--print-config', client, '--workspace', 'project', '--allow', 'run'];
  const {code, stdout, stderr} = await runCliHere(argv, {cwd: '/home/a'});
  expect({code, stderr}).toEqual({code: 0, stderr: ''});
  return stdout;
}

test('Claude Code and Cursor: mcpServers, with the type of the transport', async () => {
  const expected = {mcpServers: {'forge-tools': {type: 'stdio', command: COMMAND, args: ARGS}}};
  expect(JSON.parse(await printed('claude'))).toEqual(expected);
  expect(JSON.parse(await printed('cursor'))).toEqual(expected);
});

test('VS Code: servers, with the type of the transport', async () => {
  expect(JSON.parse(await printed('vscode'))).toEqual({
    servers: {'forge-tools': {type: 'stdio', command: COMMAND, args: ARGS}},
  });
});

test('Gemini CLI: mcpServers, with a time-out in milliseconds', async () => {
  expect(JSON.parse(await printed('gemini'))).toEqual({
    mcpServers: {'forge-tools': {command: COMMAND, args: ARGS, timeout: 600_000}},
  });
});

test('Codex: a table of its config.toml, with a time-out in seconds', async () => {
  expect(parse(await printed('codex'))).toEqual({
    mcp_servers: {
      'forge-tools': {command: COMMAND, args: ARGS, startup_timeout_sec: 60, tool_timeout_sec: 600},
    },
  });
});

test('paths are absolute, and a person is told where it goes', async () => {
  const argv = ['mcp', '--print-config', 'claude', '--config', 'forge.toml', '--run-dir', 'runs/1'];
  const {stdout, stderr} = await runCliHere(argv, {cwd: '/home/a', answers: []});
  const {args} = JSON.parse(stdout).mcpServers['forge-tools'];
  expect(args.slice(2)).toEqual([
    '--workspace',
    '/home/a',
    '--config',
    '/home/a/forge.toml',
    '--run-dir',
    '/home/a/runs/1',
  ]);
  expect(stderr).toContain('.mcp.json');
});

test.each([
  [['--print-config', 'emacs'], CLIENTS.join(', ')],
  [['--print-config', 'claude', '--http', '8931'], '--print-config is for standard input and output'],
])('%j is a usage error', async (argv, part) => {
  const {code, stderr} = await runCliHere(['mcp', ...argv]);
  expect(code).toBe(2);
  expect(stderr).toContain(part);
});
