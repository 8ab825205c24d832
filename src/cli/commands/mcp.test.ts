import {readFileSync, realpathSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {PassThrough} from 'node:stream';
import {pathToFileURL} from 'node:url';
import {Client} from '@modelcontextprotocol/sdk/client/index.js';
import type {Transport} from '@modelcontextprotocol/sdk/shared/transport.js';
import {ListRootsRequestSchema} from '@modelcontextprotocol/sdk/types.js';
import {ReadBuffer, serializeMessage} from '@modelcontextprotocol/server';
import {describe, expect, test} from 'vitest';
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

/** `mcp` with these flags, and the official client of the older revisions at its pipes. */
async function served(
  flags: readonly string[],
  {cwd, homeDir, roots}: {cwd: string; homeDir: string; roots?: readonly string[]},
) {
  const input = new PassThrough();
  const buffer = new ReadBuffer();
  const transport: Transport = {
    start: async () => {},
    send: async message =>
      void input.write(serializeMessage(message as Parameters<typeof serializeMessage>[0])),
    close: async () => void input.end(),
  };
  const ended = runCliHere(['mcp', ...flags], {
    cwd,
    homeDir,
    input,
    onStdout: text => {
      buffer.append(Buffer.from(text));
      for (let message = buffer.readMessage(); message !== null; message = buffer.readMessage()) {
        transport.onmessage?.(message as Parameters<NonNullable<Transport['onmessage']>>[0]);
      }
    },
  });
  const client = new Client({name: 'test', version: '1'}, {capabilities: roots ? {roots: {}} : {}});
  if (roots) {
    client.setRequestHandler(ListRootsRequestSchema, () => ({roots: roots.map(uri => ({uri}))}));
  }
  await client.connect(transport);
  return {client, ended};
}

test('ruling H8: without a word of the configuration an answer is text, and tools have no schema of it', async () => {
  const place = {cwd: realpathSync(temporaryDirectory()), homeDir: temporaryDirectory()};
  writeFileSync(join(place.cwd, 'a.txt'), 'text of a\n');
  const read = async (flags: readonly string[]) => {
    const {client, ended} = await served(flags, place);
    const {tools} = await client.listTools();
    const answer = await client.callTool({name: 'read_file', arguments: {path: 'a.txt'}});
    await client.close();
    expect((await ended).code).toBe(0);
    return {schemas: tools.filter(({outputSchema}) => outputSchema !== undefined).length, answer};
  };
  const plain = await read([]);
  expect(plain.schemas).toBe(0);
  expect(plain.answer).toMatchObject({content: [{text: expect.stringContaining('text of a')}]});
  expect(plain.answer).not.toHaveProperty('structuredContent');
  const both = await read(['--results', 'both']);
  expect(both.schemas).toBeGreaterThan(10);
  expect(both.answer).toHaveProperty('structuredContent');
});

describe('the roots of a client', () => {
  const place = () => {
    const homeDir = realpathSync(temporaryDirectory());
    const root = realpathSync(temporaryDirectory());
    writeFileSync(join(root, 'of-root.txt'), 'a');
    const cwd = realpathSync(temporaryDirectory());
    writeFileSync(join(cwd, 'of-cwd.txt'), 'b');
    return {homeDir, root, cwd};
  };
  const listed = async (flags: readonly string[], options: Parameters<typeof served>[1]) => {
    const {client, ended} = await served(flags, options);
    const answer = await client.callTool({name: 'list_files', arguments: {}});
    await client.close();
    expect((await ended).code).toBe(0);
    return JSON.stringify(answer.content);
  };

  test('choose the workspace where no flag does', async () => {
    const {homeDir, root, cwd} = place();
    const roots = [pathToFileURL(root).href];
    expect(await listed([], {cwd, homeDir, roots})).toContain('of-root.txt');
    expect(await listed([], {cwd: homeDir, homeDir, roots})).toContain('of-root.txt');
  });

  test('count for nothing beside --workspace, and where the client names none', async () => {
    const {homeDir, root, cwd} = place();
    const roots = [pathToFileURL(root).href];
    expect(await listed(['--workspace', '.'], {cwd, homeDir, roots})).toContain('of-cwd.txt');
    expect(await listed([], {cwd, homeDir, roots: []})).toContain('of-cwd.txt');
    expect(await listed([], {cwd, homeDir})).toContain('of-cwd.txt');
  });

  test('open no home directory, nothing that is not there, and nothing on another machine', async () => {
    const {homeDir, root, cwd} = place();
    const wrong = [homeDir, '/', join(root, 'missing')].map(path => pathToFileURL(path).href);
    const roots = [...wrong, 'file://other-host/share'];
    expect(await listed([], {cwd, homeDir, roots})).toContain('of-cwd.txt');
    const last = [...roots, pathToFileURL(root).href];
    expect(await listed([], {cwd, homeDir, roots: last})).toContain('of-root.txt');
  });
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
    env: {...env, FORGE_TOOLS_MCP_TOKEN: 'x'.repeat(32)},
  });
  expect(both.code).toBe(2);
});
