import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {readdir, utimes, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {expect, test} from 'vitest';
import {readEvents, tempDirectory} from '../../test/support/open-test-runtime.ts';
import {systemClock} from '../core/clock.ts';
import {verifyLog} from './event-log.ts';
import {isOurRunName} from './kept-runs.ts';
import {openSession, type Session} from './session.ts';

async function opened(directory: string): Promise<Session> {
  const session = await openSession({directory, workspace: undefined, clock: systemClock});
  if (!session.ok) throw new Error(session.error.message);
  return session.value;
}

/** Node 20 runs no TypeScript: the modules under test are compiled for the process that is killed. */
async function compileRuntime(): Promise<string> {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const out = join(await tempDirectory(), 'js');
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const options =
    '--noCheck --target es2023 --module nodenext --rewriteRelativeImportExtensions --skipLibCheck --types node';
  const sources = ['src/runtime/session.ts', 'src/runtime/kept-runs.ts', 'src/core/clock.ts'];
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
  tags: 'stress',
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

/** Ends the process at a call of the clock, which is asked about each run before it is moved away. */
const PRUNER = `
import {pruneRuns} from './runtime/kept-runs.js';
import {systemClock} from './core/clock.js';
let asked = 0;
const now = () => {
  asked += 1;
  if (asked === Number(process.argv[3])) process.kill(process.pid, 'SIGKILL');
  return systemClock.now();
};
const retention = {maxAgeMs: 5 * 86_400_000, maxBytes: 1e9};
const pruned = await pruneRuns(process.argv[2], retention, {clock: {...systemClock, now}});
if (!pruned.ok && pruned.error.details.error !== 'in_use') throw new Error(pruned.error.message);`;

test('M1: processes that prune at once, or are killed while they do, leave whole runs only, and the next goes on', {
  tags: 'slow',
  timeout: 60_000,
}, async () => {
  const out = await compileRuntime();
  await writeFile(join(out, 'pruner.js'), PRUNER);
  const root = await tempDirectory();
  const nameOf = (at: number) => `202601${String(at).padStart(2, '0')}T000000000Z-0000000a`;
  for (let at = 1; at <= 20; at += 1) {
    const path = join(root, nameOf(at));
    await (await opened(path)).close();
    if (at <= 15) await utimes(join(path, 'events.jsonl'), at, at);
  }
  const prune = (killAt: number) => {
    const child = spawn(process.execPath, [join(out, 'pruner.js'), root, String(killAt)], {stdio: 'inherit'});
    return once(child, 'exit');
  };
  const wholeRuns = async () => {
    const names = (await readdir(root)).filter(isOurRunName);
    for (const name of names) {
      const check = await verifyLog(join(root, name, 'events.jsonl'));
      expect(check).toMatchObject({ok: true, value: {state: 'intact', events: 2}});
    }
    return names.length;
  };
  for (const killAt of [1, 4]) {
    expect(await prune(killAt)).toEqual([null, 'SIGKILL']);
    expect(await wholeRuns()).toBe(21 - killAt);
  }
  expect(await readdir(join(root, '.removed'))).toHaveLength(3);
  expect(await Promise.all([prune(0), prune(0), prune(0)])).toEqual(Array(3).fill([0, null]));
  expect(await wholeRuns()).toBe(5);
  expect((await readdir(root)).filter(name => !isOurRunName(name))).toEqual([]);
});
