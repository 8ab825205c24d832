import {spawn} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {describe, expect, onTestFinished, test} from 'vitest';
import {temporaryDirectory} from '../support/temporary-directory.ts';

const SERVER = fileURLToPath(new URL('../support/mcp-server-main.js', import.meta.url));
/** It needs Node 22; both come from the registry. */
const INSPECTOR = [
  '-y',
  '-p',
  'node@22',
  '-p',
  '@modelcontextprotocol/inspector@2.12.0',
  'mcp-inspector',
  '--cli',
];
/** The first run fetches the packages. */
const TIMEOUT_MS = 180_000;

function inspect(args: readonly string[]): Promise<unknown> {
  const env = {...process.env, MCP_CATALOG_PATH: join(temporaryDirectory(), 'catalog.json')};
  const child = spawn('npx', [...INSPECTOR, ...args], {stdio: ['ignore', 'pipe', 'pipe'], env});
  let out = '';
  let said = '';
  child.stdout.on('data', chunk => {
    out += chunk;
  });
  child.stderr.on('data', chunk => {
    said += chunk;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', code => (code === 0 ? resolve(JSON.parse(out)) : reject(new Error(said))));
  });
}

describe('@modelcontextprotocol/inspector --cli', () => {
  test('lists and calls over stdio', {timeout: TIMEOUT_MS, tags: 'stress'}, async () => {
    const command = [process.execPath, SERVER, 'stdio'];
    const listed = await inspect([...command, '--method', 'tools/list']);
    expect(listed).toMatchObject({tools: [{name: 'echo', title: 'Echo', annotations: {readOnlyHint: true}}]});
    const call = ['--method', 'tools/call', '--tool-name', 'echo', '--tool-arg', 'text=hi'];
    expect(await inspect([...command, ...call])).toMatchObject({structuredContent: {data: {text: 'hi'}}});
  });

  test('lists over HTTP with the token of the token file', {
    timeout: TIMEOUT_MS,
    tags: 'stress',
  }, async () => {
    const tokenFile = join(temporaryDirectory(), 'token');
    const server = spawn(process.execPath, [SERVER, 'http', tokenFile], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void server.kill());
    const url = await new Promise<string>(resolve =>
      server.stdout.once('data', line => resolve(String(line).trim())),
    );
    const header = `Authorization: Bearer ${readFileSync(tokenFile, 'utf8').trim()}`;
    const listed = await inspect([url, '--transport', 'http', '--header', header, '--method', 'tools/list']);
    expect(listed).toMatchObject({tools: [{name: 'echo'}]});
  });
});
