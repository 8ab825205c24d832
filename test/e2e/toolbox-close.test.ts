import {type ChildProcess, spawn} from 'node:child_process';
import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {describe, expect, onTestFinished, test, vi} from 'vitest';
import {type ApprovalAnswer, createToolbox, type ToolboxOptions} from '../../src/index.ts';
import {startHttpServer} from '../support/http-server.ts';
import {processesWith, uniqueSleep} from '../support/open-sandbox.ts';
import {needs} from '../support/parts.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

const MAIN = fileURLToPath(new URL('../../dist/bin/forge-tools.js', import.meta.url));

/** The built command line on a workspace of its own, with commands allowed and unconfined. */
function start(argv: readonly string[]) {
  const place = temporaryDirectory();
  const workspace = join(place, 'workspace');
  const runDirectory = join(place, 'run');
  const config = join(place, 'config.toml');
  mkdirSync(workspace);
  writeFileSync(
    config,
    '[tools]\nmode = "enabled"\n[tools.approval]\nmode = "auto"\n[tools.run]\nenabled = true\nsandbox = "none"\nallow_insecure_none = true\n',
  );
  const child = spawn(
    process.execPath,
    [MAIN, ...argv, '--workspace', workspace, '--run-dir', runDirectory, '--config', config],
    {stdio: ['pipe', 'pipe', 'ignore'], env: {PATH: process.env['PATH'], HOME: place}},
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  const events = (): readonly string[] =>
    readFileSync(join(runDirectory, 'events.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map(line => JSON.parse(line).event);
  return {child, workspace, events};
}

function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise(resolve => child.once('exit', resolve));
}

const IN_ORDER = ['session_started', 'tool_call_started', 'tool_call_finished', 'session_ended'];

function withoutDecision(events: readonly string[]): readonly string[] {
  return events.filter(event => event !== 'approval_decided');
}

describe('review B2: an interface that ends takes its calls with it, and the log is in order', () => {
  test('MCP over stdio, when the client closes its end', async () => {
    const {child, workspace, events} = start(['mcp']);
    const exit = exitOf(child);
    child.stdout?.resume();
    const send = (message: object) => child.stdin?.write(`${JSON.stringify({jsonrpc: '2.0', ...message})}\n`);
    const clientInfo = {name: 'test', version: '1'};
    send({
      id: 0,
      method: 'initialize',
      params: {protocolVersion: '2025-06-18', capabilities: {}, clientInfo},
    });
    send({method: 'notifications/initialized'});
    const nap = uniqueSleep();
    const command = `touch began; sleep ${nap}; touch late`;
    send({id: 1, method: 'tools/call', params: {name: 'run', arguments: {command}}});
    await vi.waitUntil(() => existsSync(join(workspace, 'began')), {timeout: 20_000});
    child.stdin?.end();
    expect(await exit).toBe(0);
    expect(processesWith(nap)).toEqual([]);
    expect(existsSync(join(workspace, 'late'))).toBe(false);
    expect(withoutDecision(events())).toEqual(IN_ORDER);
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('a call of the command line, on %s', async signal => {
    const nap = uniqueSleep();
    const {child, workspace, events} = start([
      'call',
      'run',
      JSON.stringify({command: `touch began; sleep ${nap}`}),
    ]);
    const exit = exitOf(child);
    child.stdout?.resume();
    await vi.waitUntil(() => existsSync(join(workspace, 'began')), {timeout: 20_000});
    child.kill(signal);
    expect(await exit).toBe(130);
    expect(processesWith(nap)).toEqual([]);
    expect(withoutDecision(events())).toEqual(IN_ORDER);
  });

  test('review 1.2: a reader of standard output that goes away does not leave the run open', async () => {
    const nap = uniqueSleep();
    const {child, workspace, events} = start(['call', '--jsonl']);
    const exit = exitOf(child);
    const request = (command: string) =>
      child.stdin?.write(`${JSON.stringify({tool: 'run', request_id: 'r', params: {command}})}\n`);
    request(`touch began; sleep ${nap}`);
    await vi.waitUntil(() => existsSync(join(workspace, 'began')), {timeout: 20_000});
    child.stdout?.destroy();
    request('true');
    expect(await exit).toBe(0);
    expect(processesWith(nap)).toEqual([]);
    expect(events().at(-1)).toBe('session_ended');
  });
});

const SANDBOXES = [
  ['none', []],
  ['bubblewrap', ['bubblewrap']],
] as const;

interface Place extends Omit<ToolboxOptions, 'config'> {
  readonly sandbox?: 'none' | 'bubblewrap';
  readonly mode?: 'auto' | 'prompt';
  readonly port?: number;
}

function open({sandbox = 'none', mode = 'auto', port = 80, ...ports}: Place = {}) {
  const place = temporaryDirectory();
  const workspace = join(place, 'workspace');
  mkdirSync(workspace);
  const runDirectory = join(place, 'run');
  const toolbox = createToolbox({
    workspace,
    runDirectory,
    resolver: {resolve: async () => ['127.0.0.1']},
    ...ports,
    config: {
      tools: {
        mode: 'enabled',
        approval: {mode},
        run: {enabled: true, sandbox, allow_insecure_none: true},
        webfetch: {
          enabled: true,
          cache_dir: '',
          security: {block_loopback: false, allow_insecure_overrides: true, allowed_ports: [port]},
        },
      },
    },
  });
  onTestFinished(() => toolbox.close());
  const events = (): readonly string[] =>
    readFileSync(join(runDirectory, 'events.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map(line => JSON.parse(line).event);
  const call = (tool: string, params: {[name: string]: string} = {}) =>
    toolbox.call({tool, params, request_id: ''});
  return {toolbox, workspace, events, call};
}

/** `Promise.withResolvers` of Node 22. */
function withResolvers<Value>() {
  let resolve: (value: Value) => void = () => {};
  const promise = new Promise<Value>(done => {
    resolve = done;
  });
  return {promise, resolve};
}

const CLOSED = {
  code: 'cancelled',
  error_type: 'cancelled',
  message: 'The toolbox is closed. Create a new one.',
  retryable: false,
  details: {phase: 'closed'},
};

describe('review B2: close() ends what runs, waits for it, and refuses what comes later', () => {
  describe.each(SANDBOXES)('in sandbox %s', (sandbox, parts) => {
    test('parallel commands are killed, and their ends are in the log', needs(...parts), async () => {
      const {toolbox, workspace, events, call} = open({sandbox});
      const nap = uniqueSleep();
      const names = ['a', 'b', 'c'];
      const calls = names.map(name =>
        call('run', {command: `touch ${name}-began; sleep ${nap}; touch ${name}-late`}),
      );
      const lie = (suffix: string) => names.filter(name => existsSync(join(workspace, name + suffix)));
      await vi.waitUntil(() => lie('-began').length === 3, {timeout: 20_000});

      await toolbox.close();

      expect(processesWith(nap)).toEqual([]);
      expect(lie('-late')).toEqual([]);
      for (const result of await Promise.all(calls)) {
        expect(result).toMatchObject({status: 'error', error: {error_type: 'cancelled'}});
      }
      const written = events();
      expect(written.filter(event => event === 'tool_call_finished')).toHaveLength(3);
      expect(written.at(-1)).toBe('session_ended');
      expect((await call('run', {command: 'touch after'})).error).toEqual(CLOSED);
      expect(existsSync(join(workspace, 'after'))).toBe(false);
      expect(events()).toEqual(written);
    });
  });

  test('a call that waits for its approval', async () => {
    const asked = withResolvers<AbortSignal>();
    const approver = {
      ask: (_: unknown, signal: AbortSignal) => {
        asked.resolve(signal);
        return new Promise<ApprovalAnswer>(() => {});
      },
    };
    const {toolbox, events, call} = open({mode: 'prompt', approver});
    const waiting = call('run', {command: 'true'});
    const signal = await asked.promise;
    await toolbox.close();
    expect(signal.aborted).toBe(true);
    expect(await waiting).toMatchObject({error: {error_type: 'cancelled', details: {phase: 'approval'}}});
    expect(events()).toEqual([
      'session_started',
      'tool_call_started',
      'approval_requested',
      'tool_call_finished',
      'session_ended',
    ]);
  });

  test('a page on its way, by a call and by webFetch', async () => {
    const arrived = withResolvers<void>();
    let pages = 0;
    const server = await startHttpServer({
      '/robots.txt': (_, response) => response.writeHead(404).end(),
      '*': () => {
        pages += 1;
        if (pages === 2) arrived.resolve();
      },
    });
    onTestFinished(() => server.close());
    const {toolbox, events, call} = open({port: server.port});
    const called = call('web_fetch', {url: `${server.origin}/a`});
    const direct = toolbox.webFetch({url: `${server.origin}/b`});
    await arrived.promise;
    await toolbox.close();
    expect(await called).toMatchObject({error: {error_type: 'cancelled'}});
    expect(await direct).toMatchObject({ok: false, error: {code: 'cancelled'}});
    expect(events().slice(-2)).toEqual(['tool_call_finished', 'session_ended']);
    expect(await toolbox.webFetch({url: `${server.origin}/c`})).toMatchObject({
      ok: false,
      error: {code: 'cancelled', message: CLOSED.message, retryable: false},
    });
  });

  test('a call that comes while it closes is refused, and a second close() waits for the first', async () => {
    const {toolbox, workspace, call, events} = open();
    const running = call('run', {command: 'touch began; sleep 600'});
    await vi.waitUntil(() => existsSync(join(workspace, 'began')), {timeout: 20_000});
    const closings = [toolbox.close(), toolbox.close()];
    expect((await call('run', {command: 'touch meanwhile'})).error).toEqual(CLOSED);
    await closings[1];
    expect(events().at(-1)).toBe('session_ended');
    await Promise.all([...closings, running, toolbox.close()]);
    expect(existsSync(join(workspace, 'meanwhile'))).toBe(false);
  });

  test('before any call, nothing is opened', async () => {
    const {toolbox, call} = open({runDirectory: '/proc/nowhere'});
    await toolbox.close();
    expect((await call('glob', {pattern: '*'})).error).toEqual(CLOSED);
  });
});
