import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {PassThrough} from 'node:stream';
import {expect, test} from 'vitest';
import {cliConfig} from '../../../test/support/cli-config.ts';
import {runCliHere} from '../../../test/support/run-cli-here.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {name: 'test', version: '1'}},
};

test('policy: mcp speaks the protocol on standard output and nothing else', async () => {
  const {cwd, env, flags} = cliConfig();
  const messages = [
    INITIALIZE,
    {jsonrpc: '2.0', method: 'notifications/initialized'},
    {jsonrpc: '2.0', id: 2, method: 'tools/list'},
  ];
  const input = new PassThrough();
  input.write(messages.map(message => `${JSON.stringify(message)}\n`).join(''));
  const {code, stdout} = await runCliHere(['mcp', ...flags], {
    cwd,
    env,
    input,
    // A client that closes its end is done.
    onStdout: text => {
      if (text.includes('"id":2')) input.end();
    },
  });
  expect(code).toBe(0);
  const answers = stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));
  expect(answers).toMatchObject([
    {id: 1, result: {serverInfo: {name: 'forge-tools', version: '0.0.0-test'}}},
    {id: 2, result: {tools: expect.arrayContaining([expect.objectContaining({name: 'web_fetch'})])}},
  ]);
});

test('policy: mcp --http serves who has the token until it is interrupted', async () => {
  const {cwd, env, flags} = cliConfig();
  const stop = new AbortController();
  const tokenFile = join(temporaryDirectory(), 'token');
  const served = runCliHere(['mcp', '--http', '127.0.0.1:0', '--token-file', tokenFile, ...flags], {
    cwd,
    env,
    signal: stop.signal,
    input: new PassThrough(),
    onStderr: async text => {
      const url = /Serving MCP at (\S+);/.exec(text)?.[1];
      if (url === undefined) return;
      const token = readFileSync(tokenFile, 'utf8').trim();
      const headers = {'content-type': 'application/json', accept: 'application/json, text/event-stream'};
      const request = {method: 'POST', headers, body: JSON.stringify(INITIALIZE)};
      expect((await fetch(url, request)).status).toBe(401);
      const allowed = await fetch(url, {
        ...request,
        headers: {...headers, authorization: `Bearer ${token}`},
      });
      expect(allowed.status).toBe(200);
      await allowed.body?.cancel();
      stop.abort();
    },
  });
  const {code, stderr} = await served;
  expect(code).toBe(0);
  expect(stderr).toContain(tokenFile);
  expect(() => readFileSync(tokenFile)).toThrow();
});

test.each([
  [['x'], 'no arguments'],
  [['--http', 'localhost'], 'HOST:PORT'],
  [['--http', '1.2.3.4:99999'], 'HOST:PORT'],
  [['--token-file', 'f'], '--token-file goes with --http'],
  [['--allow-origin', 'a'], '--allow-origin goes with --http'],
])('policy: %j is wrong usage', async (argv, text) => {
  const {code, stderr} = await runCliHere(['mcp', ...argv]);
  expect(code).toBe(2);
  expect(stderr).toContain(text);
});

test('policy: an address that others reach needs a token that the operator chose', async () => {
  const {cwd, env, flags} = cliConfig();
  const refused = await runCliHere(['mcp', '--http', '0.0.0.0:0', ...flags], {cwd, env});
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('can be reached from other machines');
  const both = await runCliHere(['mcp', '--http', '127.0.0.1:0', '--token-file', 'f', ...flags], {
    cwd,
    env: {...env, FORGE_MCP_TOKEN: 'x'.repeat(32)},
  });
  expect(both.code).toBe(2);
});
