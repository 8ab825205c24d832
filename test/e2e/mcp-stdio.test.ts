import {spawn} from 'node:child_process';
import {fileURLToPath} from 'node:url';
import {Client as ModernClient} from '@modelcontextprotocol/client';
import {StdioClientTransport as ModernStdio} from '@modelcontextprotocol/client/stdio';
import {Client as OlderClient} from '@modelcontextprotocol/sdk/client/index.js';
import {StdioClientTransport as OlderStdio} from '@modelcontextprotocol/sdk/client/stdio.js';
import {describe, expect, test} from 'vitest';

const SERVER = fileURLToPath(new URL('../support/mcp-server-main.js', import.meta.url));
const COMMAND = {command: process.execPath, args: [SERVER, 'stdio'], stderr: 'ignore' as const};

describe('MCP over the pipes of a process', () => {
  test('the official client of revision 2026-07-28 lists and calls', async () => {
    const client = new ModernClient({name: 'test', version: '1'}, {versionNegotiation: {mode: 'auto'}});
    await client.connect(new ModernStdio(COMMAND));
    expect((await client.listTools()).tools.map(({name}) => name)).toEqual(['echo']);
    const answer = await client.callTool({name: 'echo', arguments: {text: 'hi'}});
    expect(answer).toMatchObject({content: [{text: 'echo: hi'}], structuredContent: {data: {text: 'hi'}}});
    expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
    await client.close();
  });

  test('the official client of the older revisions lists and calls', async () => {
    const client = new OlderClient({name: 'test', version: '1'});
    await client.connect(new OlderStdio(COMMAND));
    expect((await client.listTools()).tools.map(({name}) => name)).toEqual(['echo']);
    const answer = await client.callTool({name: 'echo', arguments: {text: 'hi'}});
    expect(answer).toMatchObject({content: [{text: 'echo: hi'}], structuredContent: {data: {text: 'hi'}}});
    await client.close();
  });

  test('policy: stdout carries the protocol alone, and closing stdin ends the calls and the process', async () => {
    const child = spawn(process.execPath, [SERVER, 'stdio'], {stdio: ['pipe', 'pipe', 'pipe']});
    const ended = new Promise<number | null>(resolve => child.on('close', resolve));
    let out = '';
    let said = '';
    child.stdout.on('data', chunk => {
      out += chunk;
    });
    const send = (message: object) => child.stdin.write(`${JSON.stringify({jsonrpc: '2.0', ...message})}\n`);
    const clientInfo = {name: 'test', version: '1'};
    send({
      id: 0,
      method: 'initialize',
      params: {protocolVersion: '2025-06-18', capabilities: {}, clientInfo},
    });
    child.stdin.write('this is no JSON\n');
    send({method: 'notifications/initialized'});
    send({id: 1, method: 'tools/call', params: {name: 'echo', arguments: {text: 'wait'}}});
    for await (const chunk of child.stderr) {
      said += chunk;
      if (said === 'started\n') child.stdin.end();
    }
    expect(await ended).toBe(0);
    expect(said).toBe('started\ncancelled\nended\n');
    const messages = out
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as object);
    expect(messages).toMatchObject([{jsonrpc: '2.0', id: 0, result: {protocolVersion: '2025-06-18'}}]);
  });
});
