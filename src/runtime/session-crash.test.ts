import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {expect, test} from 'vitest';
import {readEvents, tempDirectory} from '../../test/support/open-test-runtime.ts';
import {systemClock} from '../core/clock.ts';
import {verifyLog} from './events/verify-log.ts';
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
