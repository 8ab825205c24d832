import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {appendFile, readdir, readFile, truncate, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {describe, expect, test} from 'vitest';
import {openTestRuntime, readEvents, tempDirectory} from '../../test/support/open-test-runtime.ts';
import {systemClock} from '../core/clock.ts';
import {verifyLog} from './events/verify-log.ts';
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

  test('policy: a log cut off at any byte is torn or intact, never tampered, and is resumed', async () => {
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

/** Node 20 runs no TypeScript: the modules under test are compiled for the process that is killed. */
async function compileRuntime(): Promise<string> {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const out = join(await tempDirectory(), 'js');
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const options =
    '--noCheck --target es2023 --module nodenext --rewriteRelativeImportExtensions --skipLibCheck --types node';
  const sources = ['src/runtime/session.ts', 'src/core/clock.ts'];
  const compiled = spawn(
    process.execPath,
    [compiler, ...options.split(' '), '--ignoreConfig', '--rootDir', 'src', '--outDir', out, ...sources],
    {cwd: root, stdio: 'inherit'},
  );
  expect(await once(compiled, 'exit')).toEqual([0, null]);
  await writeFile(join(out, 'package.json'), '{"type":"module"}');
  return out;
}

const WRITER = `
import {openSession} from './runtime/session.js';
import {systemClock} from './core/clock.js';
const session = await openSession({directory: process.argv[2], workspace: undefined, clock: systemClock});
if (!session.ok) throw new Error(session.error.message);
const {nextStep, emit} = session.value;
for (;;) {
  const step = nextStep();
  emit('tool_call_started', {step, text: 'x'.repeat(step % 900)});
  process.stdout.write('.');
  await new Promise(setImmediate);
  emit('tool_call_finished', {step});
}`;

test('ruling W10 a process killed at any moment leaves lines that verify, and a session that goes on', {
  tags: 'slow',
}, async () => {
  const js = await compileRuntime();
  await writeFile(join(js, 'writer.js'), WRITER);
  const directory = await tempDirectory();
  let steps = 0;
  for (let round = 0; round < 4; round++) {
    const writer = spawn(process.execPath, [join(js, 'writer.js'), directory], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let written = 0;
    for await (const chunk of writer.stdout) {
      written += chunk.length;
      if (written > 100 + round * 37) writer.kill('SIGKILL');
    }
    const check = await verifyLog(join(directory, 'events.jsonl'));
    expect(check).toMatchObject({ok: true, value: {state: expect.stringMatching(/^(intact|torn)$/)}});
    const session = await opened(directory);
    const next = session.nextStep();
    expect(next).toBeGreaterThan(steps + 100);
    steps = next - 1;
    await session.close();
  }
  const events = await readEvents(directory);
  expect(events.filter(({event}) => event === 'session_resumed').length).toBeGreaterThanOrEqual(4);
  const started = events
    .filter(({event}) => event === 'tool_call_started')
    .map(({payload}) => payload['step']);
  expect(new Set(started).size).toBe(started.length);
});
