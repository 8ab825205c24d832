import {spawn} from 'node:child_process';
import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {Client as ModernClient} from '@modelcontextprotocol/client';
import {StdioClientTransport as ModernStdio} from '@modelcontextprotocol/client/stdio';
import {Client as OlderClient} from '@modelcontextprotocol/sdk/client/index.js';
import {StdioClientTransport as OlderStdio} from '@modelcontextprotocol/sdk/client/stdio.js';
import {describe, expect, onTestFinished, test} from 'vitest';
import {ok} from '../../src/core/result.ts';
import type {ApprovalRule} from '../../src/core/tool-host.ts';
import {createToolbox, type ToolboxOptions} from '../../src/index.ts';
import {createMcpService} from '../../src/mcp/create-mcp-service.ts';
import {
  type Answer,
  type Carrier,
  COMBINATIONS,
  connectClient,
  type Generation,
} from '../support/mcp-clients.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

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

/** The real toolbox behind the official client. */
async function connect(
  combination: readonly [Carrier, Generation],
  {answer, ...ports}: Omit<ToolboxOptions, 'config'> & {readonly answer?: Answer} = {},
) {
  const workspace = temporaryDirectory();
  const runDirectory = join(temporaryDirectory(), 'run');
  writeFileSync(join(workspace, 'calc.py'), 'def add(a, b):\n    return a - b\n');
  const toolbox = createToolbox({
    workspace,
    runDirectory,
    ...ports,
    config: {tools: {mode: 'enabled', webfetch: {enabled: true, cache_dir: '', allow_auto_execution: true}}},
  });
  onTestFinished(() => toolbox.close());
  const client = await connectClient(createMcpService(toolbox, {version: '0.0.0'}), combination, answer);
  onTestFinished(() => client.close());
  const fileText = (): string => readFileSync(join(workspace, 'calc.py'), 'utf8');
  const events = (): string => readFileSync(join(runDirectory, 'events.jsonl'), 'utf8');
  return {client, fileText, events, listed: toolbox.listTools().map(({name}) => name)};
}

const EDIT = {
  name: 'str_replace',
  arguments: {path: 'calc.py', old_string: 'a - b', new_string: 'a + b'},
};

describe.each(COMBINATIONS)('the toolbox over MCP: %s, %s', (...combination) => {
  test('every tool is listed with title, schemas and all four hints', async () => {
    const {client, listed} = await connect(combination);
    const {tools} = await client.listTools();
    const names = tools.map(tool => (tool as {name: string}).name);
    expect(names).toEqual(listed);
    expect(names).toEqual(expect.arrayContaining(['web_fetch', 'read_file', 'undo', 'run', 'stop_run']));
    for (const tool of tools) {
      expect(tool).toMatchObject({
        title: expect.any(String),
        description: expect.any(String),
        inputSchema: {type: 'object', additionalProperties: false},
        outputSchema: {type: 'object'},
        annotations: {
          readOnlyHint: expect.any(Boolean),
          destructiveHint: expect.any(Boolean),
          idempotentHint: expect.any(Boolean),
          openWorldHint: expect.any(Boolean),
        },
      });
    }
  });

  test('ruling H2 a workspace tool: the whole ToolResult, and text that is enough', async () => {
    const {client} = await connect(combination);
    const answer = await client.callTool({name: 'read_file', arguments: {path: 'calc.py'}});
    expect(answer.structuredContent).toMatchObject({
      tool: 'read_file',
      status: 'success',
      data: {total_lines: 2},
    });
    expect(answer.content[0]?.text).toContain('return a - b');
  });

  test('ruling H2 web_fetch: the bare envelope on failure', async () => {
    const {client} = await connect(combination);
    const answer = await client.callTool({name: 'web_fetch', arguments: {url: 'http://169.254.169.254/'}});
    expect(answer.isError).toBe(true);
    expect(JSON.parse(answer.content[0]?.text ?? '')).toMatchObject({code: 'ssrf_blocked', retryable: false});
    const wrong = await client.callTool({name: 'web_fetch', arguments: {}});
    expect(JSON.parse(wrong.content[0]?.text ?? '')).toMatchObject({
      code: 'bad_args',
      details: {field: 'url'},
    });
  });

  test('a client that cannot ask: refused before anything is written, with the ways out', async () => {
    const {client, fileText} = await connect(combination);
    await client.callTool({name: 'read_file', arguments: {path: 'calc.py'}});
    const answer = await client.callTool(EDIT);
    expect(answer.isError).toBe(true);
    expect(answer.content[0]?.text).toContain('approval_required');
    expect(answer.content[0]?.text).toContain('tools.approval.allowlist');
    expect(answer.content[0]?.text).toContain('forge-tools approve');
    expect(fileText()).toContain('a - b');
  });

  test('a person who is asked sees the diff; yes writes, no does not', async () => {
    const seen: string[] = [];
    const replies = [
      {action: 'accept', content: {decision: 'refuse', reason: 'not now'}},
      {action: 'accept', content: {decision: 'once'}},
    ] as const;
    const {client, fileText} = await connect(combination, {
      answer: message => {
        seen.push(message);
        return replies[seen.length - 1] ?? {action: 'decline'};
      },
    });
    await client.callTool({name: 'read_file', arguments: {path: 'calc.py'}});
    const refused = await client.callTool(EDIT);
    expect(refused.isError).toBe(true);
    expect(refused.content[0]?.text).toContain('not now');
    expect(fileText()).toContain('a - b');
    const allowed = await client.callTool(EDIT);
    expect(allowed.isError ?? false).toBe(false);
    expect(fileText()).toContain('a + b');
    expect(seen).toHaveLength(2);
    expect(seen[0]).toContain('return a + b');
  });

  test('ruling H3 a rule that the form offered, edited and kept, settles later calls', async () => {
    const seen: string[] = [];
    const kept: ApprovalRule[] = [];
    const {client, fileText} = await connect(combination, {
      rememberRule: async rule => {
        kept.push(rule);
        return ok();
      },
      answer: message => {
        seen.push(message);
        return {action: 'accept', content: {decision: 'always', rule: '*.py'}};
      },
    });
    const back = {path: 'calc.py', old_string: 'a + b', new_string: 'a - b'};
    await client.callTool({name: 'read_file', arguments: {path: 'calc.py'}});
    expect((await client.callTool(EDIT)).isError ?? false).toBe(false);
    expect((await client.callTool({...EDIT, arguments: back})).isError ?? false).toBe(false);
    expect(fileText()).toContain('a - b');
    expect(seen).toHaveLength(1);
    expect(kept).toMatchObject([{tool: 'str_replace', decision: 'allow', path: '*.py'}]);
  });
});

test('1,000 calls at the same time: no cross-talk, and every call has its two events', async () => {
  const {client, events} = await connect(['stdio', '2026-07-28']);
  const calls = Array.from({length: 1000}, (_, index) =>
    client.callTool({name: 'read_file', arguments: {path: `none-${index}.txt`}}),
  );
  for (const [index, answer] of (await Promise.all(calls)).entries()) {
    expect(answer.structuredContent).toMatchObject({error: {details: {path: `none-${index}.txt`}}});
  }
  const lines = events().trim().split('\n');
  const count = (event: string): number => lines.filter(line => line.includes(`"event":"${event}"`)).length;
  expect([count('tool_call_started'), count('tool_call_finished')]).toEqual([1000, 1000]);
});
