import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {createManualClock} from '../../test/support/manual-clock.ts';
import {echoTool, openTestRuntime, tempDirectory, toolOf} from '../../test/support/open-test-runtime.ts';
import {Lifecycle} from '../core/async.ts';
import {systemClock} from '../core/clock.ts';
import type {LogEvent} from '../core/log.ts';
import {fail, ok} from '../core/result.ts';
import type {ToolResult} from '../core/tool.ts';
import {openToolHost, type ToolHostDeps} from './open-tool-host.ts';
import {createRegistry} from './registry.ts';
import {openSession, type Session} from './session.ts';

async function openHost(overrides: Partial<ToolHostDeps> = {}) {
  const {runtime} = await openTestRuntime();
  const lifecycle = new Lifecycle();
  const directory = join(await tempDirectory(), 'run');
  const host = openToolHost({
    ...runtime,
    tools: [],
    lifecycle,
    openSession: () => openSession({directory, workspace: undefined, clock: systemClock}),
    ...overrides,
  });
  onTestFinished(() => lifecycle.close(host.closeSession));
  const call = (): Promise<ToolResult> => host.call({tool: 'echo', params: {text: 'hi'}, request_id: 'r1'});
  return {host, call, directory, lifecycle};
}

test('review B5: what throws while the session opens is a result, and the next call tries again', async () => {
  const directory = join(await tempDirectory(), 'run');
  let tries = 0;
  const {call} = await openHost({
    openSession: async () => {
      tries += 1;
      if (tries < 3) throw new SyntaxError('Unexpected end of JSON input');
      return openSession({directory, workspace: undefined, clock: systemClock});
    },
  });
  for (const _ of [1, 2]) {
    expect(await call()).toMatchObject({
      request_id: 'r1',
      status: 'error',
      error: {error_type: 'internal', retryable: true, details: {error: 'Unexpected end of JSON input'}},
    });
  }
  expect(await call()).toMatchObject({status: 'success'});
  expect(await call()).toMatchObject({status: 'success'});
  expect(tries).toBe(3);
});

test('review B5: a session whose writes throw ends its call with `internal`', async () => {
  const {runtime} = await openTestRuntime();
  const session: Session = {
    ...runtime.session,
    emit: () => {
      throw new RangeError('Invalid string length');
    },
  };
  const {call} = await openHost({openSession: async () => ({ok: true, value: session})});
  expect(await call()).toMatchObject({
    error: {error_type: 'internal', details: {error: 'Invalid string length'}},
  });
});

test('review B2: a call during the start of the session ends in good order when the host is closed', async () => {
  const slow = toolOf('slow', async () => 'done');
  const {runtime} = await openTestRuntime({tools: [slow]});
  const directory = join(await tempDirectory(), 'run');
  let openNow: () => void = () => {};
  const isOpened = new Promise<void>(resolve => {
    openNow = resolve;
  });
  const lifecycle = new Lifecycle();
  const host = openToolHost({
    ...runtime,
    tools: [slow],
    lifecycle,
    openSession: async () => {
      await isOpened;
      return openSession({directory, workspace: undefined, clock: systemClock});
    },
  });
  const called = host.call({tool: 'slow', params: {}, request_id: 'r1'});
  const closed = lifecycle.close(host.closeSession);
  openNow();
  expect(await called).toMatchObject({error: {error_type: 'cancelled'}});
  await closed;
});

describe('the host of the tools', () => {
  async function openOwnHost(overrides: Partial<ToolHostDeps> = {}) {
    const log: LogEvent[] = [];
    const {runtime} = await openTestRuntime();
    const directory = join(await tempDirectory(), 'run');
    const lifecycle = new Lifecycle();
    const host = openToolHost({
      ...runtime,
      tools: [echoTool],
      lifecycle,
      log: event => log.push(event),
      openSession: () => openSession({directory, workspace: undefined, clock: systemClock}),
      ...overrides,
    });
    onTestFinished(() => lifecycle.close(host.closeSession));
    return {host, log, lifecycle, directory};
  }
  const CALL = {tool: 'echo', params: {text: 'hi'}, request_id: 'r1'};

  test('a session that does not open is the result of the call, with every field', async () => {
    const clock = createManualClock();
    const openSession = async () => fail('io_error', 'No room.', {path: '/x'});
    const {host} = await openOwnHost({openSession, clock});
    expect(await host.call(CALL)).toEqual({
      request_id: 'r1',
      tool: 'echo',
      status: 'error',
      started_at: '2026-01-01T00:00:00.000Z',
      ended_at: '2026-01-01T00:00:00.000Z',
      duration_sec: 0,
      data: null,
      error: {
        error_type: 'io_error',
        code: 'io_error',
        message: 'No room.',
        retryable: false,
        details: {path: '/x'},
      },
      exit_code: null,
      stdout_path: null,
      stderr_path: null,
    });
  });

  test('a closed one runs nothing and says so', async () => {
    const {host, lifecycle, log} = await openOwnHost();
    await lifecycle.close(host.closeSession);
    expect((await host.call(CALL)).error).toEqual({
      error_type: 'cancelled',
      code: 'cancelled',
      message: 'The toolbox is closed. Create a new one.',
      retryable: false,
      details: {phase: 'closed'},
    });
    await host.closeSession();
    expect(log).toEqual([]);
  });

  test('M1: a wrong name or wrong arguments open no run, and are written down in one that is open', async () => {
    const {runtime} = await openTestRuntime({switchedOff: new Map()});
    const {host, directory} = await openOwnHost(runtime);
    const events = () => readFile(join(directory, 'events.jsonl'), 'utf8');
    const wrong = [
      [{...CALL, tool: 'ehco'}, 'unknown_tool'],
      [{...CALL, params: {txet: 'hi'}}, 'invalid_params'],
    ] as const;
    for (const [request, code] of wrong) {
      expect(await host.call(request)).toMatchObject({request_id: 'r1', error: {error_type: code}});
    }
    expect((await host.call({...CALL, tool: 'x', request_id: ''})).request_id).toMatch(/^call-[0-9a-f]{16}$/);
    await expect(events()).rejects.toThrow('ENOENT');
    expect(await host.call(CALL)).toMatchObject({status: 'success'});
    for (const [request] of wrong) await host.call(request);
    expect((await events()).match(/"event":"tool_call_started"/g)).toHaveLength(3);
    expect(await events()).toContain('"error_type":"unknown_tool"');
  });

  test('ruling E7: a refusal before the run begins fits into what the caller has left', async () => {
    const {runtime} = await openTestRuntime();
    const {host} = await openOwnHost(runtime);
    const params = Object.fromEntries(Array.from({length: 2000}, (_, at) => [`unknown${at}`, 1]));
    const {error} = await host.call({...CALL, params}, {availableCapacityBytes: 500});
    expect(JSON.stringify(error?.details).length).toBeLessThanOrEqual(500);
  });

  test('it renders by the tool of the result, and JSON for one that it does not know', async () => {
    const {host} = await openOwnHost();
    const result = await host.call(CALL);
    expect(host.renderText(result)).toBe('hi');
    expect(host.renderText({...result, tool: 'other'})).toBe('{"texts":["hi"],"truncated":false}');
  });

  test('closing ends the log, once there is one, and what of it may be lost is logged', async () => {
    const {host, directory} = await openOwnHost();
    await host.closeSession();
    await host.call(CALL);
    await host.closeSession();
    expect(await readFile(join(directory, 'events.jsonl'), 'utf8')).toContain('"event":"session_ended"');

    const {runtime} = await openTestRuntime();
    const close = async () => fail('io_error', 'Could not synchronise.');
    const failing = await openOwnHost({openSession: async () => ok({...runtime.session, close})});
    await failing.host.call(CALL);
    await failing.host.closeSession();
    expect(failing.log).toEqual([
      {level: 'error', event: 'event_not_written', message: 'Could not synchronise.', error_code: 'io_error'},
    ]);
  });

  test('a tool that only the configuration knows is listed as one that may do anything', async () => {
    const {runtime} = await openTestRuntime();
    const registry = createRegistry({
      mode: 'parse_only',
      turnModeOn: '',
      tools: [echoTool],
      switchedOff: new Map(),
      definitions: [{name: 'theirs', description: 'Their tool.', parameters: {}}],
    });
    const {host} = await openOwnHost({...runtime, registry});
    expect(host.listTools()).toEqual([
      {
        name: 'theirs',
        title: 'theirs',
        description: 'Their tool.',
        annotations: {readOnly: false, destructive: true, idempotent: false, openWorld: true},
        paramsSchema: {type: 'object'},
        dataSchema: {type: 'object'},
      },
    ]);
    const own = (await openOwnHost()).host.listTools()[0];
    expect(own).toMatchObject({
      title: 'Echo',
      annotations: {readOnly: true},
      dataSchema: echoTool.dataSchema,
    });
  });

  test('progress is passed on, and needs nobody who listens', async () => {
    const slow = toolOf('slow', async ({progress}) => {
      progress('half-way');
      return 1;
    });
    const {call} = await openTestRuntime({tools: [slow]});
    const said: string[] = [];
    expect((await call('slow', {}, {onProgress: message => said.push(message)})).status).toBe('success');
    expect((await call('slow')).status).toBe('success');
    expect(said).toEqual(['half-way']);
  });
});
