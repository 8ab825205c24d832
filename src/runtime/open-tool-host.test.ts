import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {openTestRuntime, tempDirectory, toolOf} from '../../test/support/open-test-runtime.ts';
import {Lifecycle} from '../core/async/lifecycle.ts';
import {systemClock} from '../core/clock.ts';
import type {ToolResult} from '../core/tool.ts';
import {openToolHost, type ToolHostDeps} from './open-tool-host.ts';
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
      error: {error_type: 'internal', details: {error: 'Unexpected end of JSON input', retryable: true}},
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
