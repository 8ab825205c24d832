import {getEventListeners} from 'node:events';
import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {createManualClock} from '../../test/support/manual-clock.ts';
import {echoTool, openTestRuntime, toolOf} from '../../test/support/open-test-runtime.ts';
import type {Json} from '../core/result.ts';

describe('time and failure', () => {
  test('FR-WF-TIMEOUT-01 a tool that does not end is ended, with its time-out', async () => {
    const clock = createManualClock();
    let enter: () => void = () => {};
    const inside = new Promise<void>(resolve => {
      enter = resolve;
    });
    const hang = toolOf(
      'hang',
      () => {
        enter();
        return new Promise(() => {});
      },
      {timeoutMs: 5000},
    );
    const {call} = await openTestRuntime({tools: [hang], clock});
    const result = call('hang');
    await inside;
    clock.advance(5000);
    await new Promise(setImmediate);
    clock.advance(2000);
    expect((await result).error).toEqual({
      error_type: 'timeout',
      code: 'timeout',
      message: 'hang did not finish within 5000 ms. Give it less to do, or retry.',
      retryable: true,
      details: {timeout_ms: 5000},
    });
    expect(clock.pending()).toBe(0);
  });

  test('policy: a tool that ends at its signal tells what it has; what it calls cancelled is a time-out', async () => {
    const clock = createManualClock();
    const waiting = (name: string, answer: Json) =>
      toolOf(
        name,
        ({signal}) => new Promise(resolve => signal.addEventListener('abort', () => resolve(answer))),
      );
    const {call} = await openTestRuntime({tools: [waiting('partial', 'half'), waiting('gone', null)], clock});
    for (const [name, expected] of [
      ['partial', {status: 'success', data: 'half'}],
      ['gone', {status: 'error', error: {error_type: 'timeout'}}],
    ] as const) {
      const result = call(name);
      await new Promise(setImmediate);
      clock.advance(1000);
      expect(await result).toMatchObject(expected);
    }
  });

  test('W19: a tool that takes back what it had half done is waited for, and answers after that', async () => {
    const clock = createManualClock();
    let takeBack: () => void = () => {};
    const changes = {
      ...toolOf(
        'changes',
        ({signal}) =>
          new Promise(resolve => {
            signal.addEventListener('abort', () => {
              takeBack = () => resolve(null);
            });
          }),
      ),
      finishMs: 60_000,
    };
    const {call} = await openTestRuntime({tools: [changes], clock});
    let answered = false;
    const result = call('changes').finally(() => {
      answered = true;
    });
    await new Promise(setImmediate);
    clock.advance(1000);
    await new Promise(setImmediate);
    clock.advance(59_000);
    await new Promise(setImmediate);
    expect(answered).toBe(false);
    takeBack();
    expect((await result).error?.error_type).toBe('timeout');
    expect(clock.pending()).toBe(0);
  });

  test('policy: the caller cancels before, and during', async () => {
    const waits = toolOf(
      'waits',
      ({signal}) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')))),
    );
    const {call, events} = await openTestRuntime({tools: [waits]});
    expect((await call('waits', {}, {signal: AbortSignal.abort()})).error?.error_type).toBe('cancelled');
    const controller = new AbortController();
    const result = call('waits', {}, {signal: controller.signal});
    await new Promise(setImmediate);
    controller.abort();
    expect((await result).error).toMatchObject({error_type: 'cancelled', retryable: true});
    expect((await events()).filter(({event}) => event === 'tool_call_finished')).toHaveLength(2);
  });

  test('NFR-WF-REL-02 what throws is internal, and ends its call only', async () => {
    const boom = toolOf('boom', async () => {
      throw new Error('broken');
    });
    const odd = toolOf('odd', () => {
      throw null;
    });
    const noIntent = {
      ...boom,
      name: 'no_intent',
      prepare: () => {
        throw new Error('bad schema');
      },
    };
    const {call, log} = await openTestRuntime({tools: [boom, odd, noIntent, echoTool]});
    expect((await call('boom')).error).toMatchObject({
      error_type: 'internal',
      code: 'internal',
      message: 'Unexpected error: broken. Please report it.',
    });
    expect((await call('odd')).error?.error_type).toBe('internal');
    expect((await call('no_intent')).error?.error_type).toBe('internal');
    expect((await call('echo', {text: 'x'})).status).toBe('success');
    expect(log.map(({event}) => event)).toEqual([
      'tool_call_crashed',
      'tool_call_crashed',
      'tool_call_crashed',
    ]);
  });

  test('policy: a tool emits events of its own and not those of the runtime', async () => {
    const patch = toolOf('patch', async context => {
      await context.emit('PATCH_APPLIED', {changed_files: ['a']});
      const saved = await context.saveArtifact(
        `diffs/step_${String(context.step).padStart(4, '0')}.patch`,
        'diff',
      );
      await context.emit('tool_call_finished', {});
      return saved.ok ? saved.value : null;
    });
    const {call, events, directory} = await openTestRuntime({tools: [patch]});
    expect((await call('patch')).error?.message).toContain('tool_call_finished is an event of the runtime');
    expect((await events()).find(({event}) => event === 'PATCH_APPLIED')?.payload).toMatchObject({
      step: 1,
      changed_files: ['a'],
    });
    expect(await readFile(join(directory, 'diffs/step_0001.patch'), 'utf8')).toBe('diff');
  });
});

test('policy: nothing is left behind: no timer, and nobody who listens to the caller', async () => {
  const clock = createManualClock();
  const {signal} = new AbortController();
  const {call} = await openTestRuntime({tools: [echoTool], clock});
  expect((await call('echo', {text: 'a'}, {signal})).status).toBe('success');
  expect(clock.pending()).toBe(0);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('policy: a call that is cancelled before it begins says so, and runs nothing', async () => {
  let ran = 0;
  const counts = toolOf('counts', async () => {
    ran += 1;
    return ran;
  });
  const {call} = await openTestRuntime({tools: [counts]});
  expect((await call('counts', {}, {signal: AbortSignal.abort()})).error).toEqual({
    error_type: 'cancelled',
    code: 'cancelled',
    message: 'The call of counts was cancelled.',
    retryable: true,
    details: {},
  });
  expect(ran).toBe(0);
});

test('ruling W8: started_at is when execution began, after the approval, and duration_sec is ended_at − started_at', async () => {
  const clock = createManualClock();
  const began = clock.now();
  const slow = toolOf(
    'slow',
    async () => {
      clock.advance(1500);
      return 'done';
    },
    {action: 'run', timeoutMs: 100_000},
  );
  const {call, events} = await openTestRuntime({
    clock,
    tools: [slow],
    approver: {
      ask: async () => {
        clock.advance(60_000);
        return {answer: 'once'};
      },
    },
  });
  const result = await call('slow');
  expect(result).toMatchObject({status: 'success', duration_sec: 1.5});
  expect(Date.parse(result.started_at) - began).toBe(60_000);
  expect(Date.parse(result.ended_at) - Date.parse(result.started_at)).toBe(1500);
  expect((await events()).find(({event}) => event === 'tool_call_finished')?.payload).toMatchObject({
    duration_sec: 1.5,
    approval_wait_sec: 60,
  });
});
