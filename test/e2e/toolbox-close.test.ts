import {existsSync, mkdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test, vi} from 'vitest';
import {type ApprovalAnswer, createToolbox, type ToolboxOptions} from '../../src/index.ts';
import {startHttpServer} from '../support/http-server.ts';
import {processesWith, uniqueSleep} from '../support/open-sandbox.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

const SANDBOXES = [
  ['none', true],
  ['bubblewrap', process.env['FORGE_TEST_BWRAP'] !== undefined],
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
  error_type: 'cancelled',
  message: 'The toolbox is closed. Create a new one.',
  details: {phase: 'closed', retryable: false},
};

describe('review B2: close() ends what runs, waits for it, and refuses what comes later', () => {
  describe.each(SANDBOXES)('in sandbox %s', (sandbox, isThere) => {
    test.runIf(isThere)('parallel commands are killed, and their ends are in the log', async () => {
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
