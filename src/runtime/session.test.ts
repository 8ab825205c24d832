import {appendFile, mkdir, readdir, readFile, truncate, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {openTestRuntime, readEvents, tempDirectory} from '../../test/support/open-test-runtime.ts';
import {systemClock} from '../core/clock.ts';
import {verifyLog} from './event-log.ts';
import {openSession, type Session} from './session.ts';

async function opened(directory: string): Promise<Session> {
  const session = await openSession({directory, workspace: undefined, clock: systemClock});
  if (!session.ok) throw new Error(session.error.message);
  return session.value;
}

async function filled(directory: string, steps: number): Promise<string> {
  const session = await opened(directory);
  for (let count = 0; count < steps; count++) {
    const step = session.nextStep();
    session.emit('tool_call_started', {step});
    session.emit('tool_call_finished', {step});
  }
  await session.close();
  return join(directory, 'events.jsonl');
}

describe('ruling W10: a session goes on', () => {
  test('ruling W10 events are numbered without a gap, across sessions', async () => {
    const directory = await tempDirectory();
    await filled(directory, 2);
    const session = await opened(directory);
    expect(session.nextStep()).toBe(3);
    session.emit('x', {});
    await session.close();
    await session.close();
    const events = await readEvents(directory);
    expect(events.map(({seq}) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.map(({event}) => event).filter(event => event.startsWith('session'))).toEqual([
      'session_started',
      'session_ended',
      'session_resumed',
      'session_ended',
    ]);
    expect(events.every(({time}) => /^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/.test(time))).toBe(true);
    expect(await verifyLog(join(directory, 'events.jsonl'))).toMatchObject({
      ok: true,
      value: {state: 'intact', events: events.length, head: events.at(-1)?.hash},
    });
  });

  test('policy: a log cut off at any byte is torn or intact, never tampered, and is resumed', {
    tags: 'stress',
  }, async () => {
    const directory = await tempDirectory();
    const path = await filled(directory, 2);
    const whole = await readFile(path);
    const ends = new Set([...whole.entries()].flatMap(([at, byte]) => (byte === 0x0a ? [at + 1] : [])));
    for (let cut = 0; cut < whole.length; cut += 7) {
      await writeFile(path, whole.subarray(0, cut));
      const state = cut === 0 || ends.has(cut) ? 'intact' : 'torn';
      expect(await verifyLog(path)).toMatchObject({ok: true, value: {state}});
    }
    await writeFile(path, whole.subarray(0, whole.length - 10));
    const session = await opened(directory);
    await session.close();
    const events = await readEvents(directory);
    const repaired = events.find(({event}) => event === 'log_repaired');
    const keptIn = String(repaired?.payload['kept_in']);
    const lastLine = whole.subarray(whole.subarray(0, -1).lastIndexOf(0x0a) + 1, -10);
    expect(await readFile(join(directory, keptIn))).toEqual(lastLine);
    expect(await verifyLog(path)).toMatchObject({ok: true, value: {state: 'intact'}});
  });

  test('policy: steps that a crash cut off are named', async () => {
    const directory = await tempDirectory();
    const path = await filled(directory, 2);
    const lines = (await readFile(path, 'utf8')).split('\n');
    await truncate(path, lines.slice(0, 4).join('\n').length + 1);
    await (await opened(directory)).close();
    const resumed = (await readEvents(directory)).find(({event}) => event === 'session_resumed');
    expect(resumed?.payload).toEqual({steps: 2, unfinished: [2]});
  });
});

describe('opening', () => {
  test('ruling W10 a session has its directory for itself until it is closed', async () => {
    const directory = await tempDirectory();
    const session = await opened(directory);
    const second = await openSession({directory, workspace: undefined, clock: systemClock});
    expect(second).toMatchObject({ok: false, error: {details: {error: 'in_use'}}});
    expect(session.client().signal.aborted).toBe(false);
    expect(await session.close()).toEqual({ok: true, value: undefined});
    expect(session.client().signal.aborted).toBe(true);
    expect(await session.close()).toEqual({ok: true, value: undefined});
    await (await opened(directory)).close();
  });

  test('ruling W10 a log that was changed is refused with the line and what is wrong with it', async () => {
    const directory = await tempDirectory();
    const path = await filled(directory, 1);
    await appendFile(path, 'x\n');
    expect(await openSession({directory, workspace: undefined, clock: systemClock})).toEqual({
      ok: false,
      error: {
        code: 'io_error',
        message: `Line 5 of ${path} has no hash: the log was changed after it was written. Use another run directory.`,
        retryable: false,
        details: {path, error: 'log_tampered', operation: 'resume'},
      },
    });
  });

  test('ruling W10 a log that cannot be read is no new one, and the directory is free again', async () => {
    const directory = await tempDirectory();
    const path = join(directory, 'events.jsonl');
    await mkdir(path);
    expect(await openSession({directory, workspace: undefined, clock: systemClock})).toEqual({
      ok: false,
      error: {
        code: 'io_error',
        message: `Could not read ${JSON.stringify(path)}: EISDIR. Check permissions and free space.`,
        retryable: false,
        details: {path, error: 'EISDIR', operation: 'read'},
      },
    });
    expect(await readdir(directory)).toEqual(['events.jsonl']);
  });

  test('ruling W10 what each line says, from the first session on', async () => {
    const directory = await tempDirectory();
    await filled(directory, 1);
    await (await opened(directory)).close();
    const events = await readEvents(directory);
    expect(events.map(({event, payload}) => [event, payload])).toEqual([
      ['session_started', {version: 1}],
      ['tool_call_started', {step: 1}],
      ['tool_call_finished', {step: 1}],
      ['session_ended', {steps: 1}],
      ['session_resumed', {steps: 1, unfinished: []}],
      ['session_ended', {steps: 1}],
    ]);
  });

  test('policy: of steps that a crash cut off a hundred are named', async () => {
    const directory = await tempDirectory();
    const session = await opened(directory);
    for (let step = 1; step <= 101; step += 1) session.emit('tool_call_started', {step: session.nextStep()});
    session.emit('x', {step: '999'});
    await session.close();
    const next = await opened(directory);
    expect(next.nextStep()).toBe(102);
    await next.close();
    const resumed = (await readEvents(directory)).find(({event}) => event === 'session_resumed');
    expect(resumed?.payload).toEqual({
      steps: 101,
      unfinished: Array.from({length: 100}, (_, at) => at + 1),
    });
  });

  test('policy: half a line is kept under a name that is free', async () => {
    const directory = await tempDirectory();
    const path = await filled(directory, 1);
    for (const name of ['torn-line-5.txt', 'torn-line-5.1.txt'])
      await writeFile(join(directory, name), 'of an earlier repair');
    await appendFile(path, '{"seq":5,"ti');
    await (await opened(directory)).close();
    const [repaired] = (await readEvents(directory)).filter(({event}) => event === 'log_repaired');
    expect(repaired?.payload).toEqual({torn_bytes: 12, kept_in: 'torn-line-5.2.txt'});
    expect(await readFile(join(directory, 'torn-line-5.2.txt'), 'utf8')).toBe('{"seq":5,"ti');
    expect(await readFile(join(directory, 'torn-line-5.txt'), 'utf8')).toBe('of an earlier repair');
  });

  test('ruling H7: the first call that nobody could be asked about is told apart once', async () => {
    const session = await opened(await tempDirectory());
    expect([1, 2, 3].map(() => session.isFirstUnanswered())).toEqual([true, false, false]);
    await session.close();
  });
});

describe('events verify', () => {
  test.each([
    ['a changed payload', (lines: string[]) => lines.map(line => line.replace('"step":1', '"step":9')), 2],
    ['a missing line', (lines: string[]) => lines.filter((_, index) => index !== 2), 3],
    ['swapped lines', ([a = '', b = '', ...rest]: string[]) => [b, a, ...rest], 1],
    ['an inserted line', ([a = '', ...rest]: string[]) => [a, a, ...rest], 2],
    ['an empty line', ([a = '', ...rest]: string[]) => [a, '', ...rest], 2],
  ])('policy: %s is seen, with its number, and not resumed', async (_, change, line) => {
    const directory = await tempDirectory();
    const path = await filled(directory, 2);
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
    await writeFile(path, `${change(lines).join('\n')}\n`);
    expect(await verifyLog(path)).toMatchObject({ok: true, value: {state: 'tampered', problem: {line}}});
    const session = await openSession({directory, workspace: undefined, clock: systemClock});
    expect(session).toMatchObject({ok: false, error: {code: 'io_error', details: {error: 'log_tampered'}}});
    expect((await readdir(directory)).filter(name => name.startsWith('lock'))).toEqual([]);
  });

  test('policy: a line without end is refused in bounded memory', async () => {
    const path = join(await tempDirectory(), 'events.jsonl');
    await writeFile(path, 'x'.repeat(3_000_000));
    expect(await verifyLog(path)).toMatchObject({ok: true, value: {state: 'tampered', events: 0}});
    expect(await verifyLog(join(path, 'none'))).toMatchObject({ok: false, error: {code: 'io_error'}});
  });
});

describe('writing', () => {
  test('policy: what another process appended stops the log instead of hiding in it', async () => {
    const {runtime, directory, call} = await openTestRuntime();
    expect((await call('echo', {text: 'a'})).status).toBe('success');
    await appendFile(join(directory, 'events.jsonl'), '{"seq":99}\n');
    expect(await call('echo', {text: 'a'})).toMatchObject({status: 'error', error: {error_type: 'io_error'}});
    expect(runtime.session.emit('x', {})).toMatchObject({ok: false, error: {details: {error: 'log_broken'}}});
  });

  test('policy: after close nothing is written and nothing runs', async () => {
    const {runtime, call, events} = await openTestRuntime();
    await runtime.session.close();
    expect(await call('echo', {text: 'a'})).toMatchObject({status: 'error', error: {error_type: 'io_error'}});
    expect((await events()).at(-1)?.event).toBe('session_ended');
  });
});
