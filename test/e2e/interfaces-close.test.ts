import {type ChildProcess, spawn} from 'node:child_process';
import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {describe, expect, onTestFinished, test, vi} from 'vitest';
import {processesWith, uniqueSleep} from '../support/open-sandbox.ts';
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
