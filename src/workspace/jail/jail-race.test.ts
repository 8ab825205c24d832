import {mkdirSync, readdirSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {Worker} from 'node:worker_threads';
import {expect, test} from 'vitest';
import {openWorkspaceForTest} from '../../../test/support/open-workspace-for-test.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {readWhole} from '../open-file.ts';
import type {Workspace} from './jail.ts';

/** `JAIL_RACE_CALLS=100000` for the long run. */
const CALLS = Number(process.env['JAIL_RACE_CALLS'] ?? 20_000);
const AT_A_TIME = 8;

/** Exchanges a directory for a link to another one and back, as fast as it can. */
const SWAPPER = `
  const {renameSync, rmSync, symlinkSync, unlinkSync} = require('node:fs');
  const {workerData: {directory, aside, outside, stop}} = require('node:worker_threads');
  const pause = () => { for (let i = 0; i < 200; i += 1) Atomics.load(stop, 0); };
  const clear = () => { try { rmSync(directory, {recursive: true, force: true}); } catch {} };
  while (Atomics.load(stop, 0) === 0) {
    renameSync(directory, aside);
    // A write that runs in the gap makes the directory anew.
    for (let placed = false; !placed; ) {
      try { symlinkSync(outside, directory); placed = true; } catch { clear(); }
    }
    pause();
    unlinkSync(directory);
    for (let placed = false; !placed; ) {
      try { renameSync(aside, directory); placed = true; } catch { clear(); }
    }
    Atomics.add(stop, 1, 1);
    pause();
  }
`;

test('ruling W1: swapping a directory for a link while calls run gains nothing', {
  timeout: 300_000,
  tags: 'stress',
}, async () => {
  const base = temporaryDirectory();
  const [root, outside] = [join(base, 'work'), join(base, 'outside')];
  mkdirSync(join(root, 'deep/swapped/inner'), {recursive: true});
  mkdirSync(join(outside, 'inner'), {recursive: true});
  writeFileSync(join(root, 'deep/swapped/inner/file.txt'), 'inside');
  writeFileSync(join(outside, 'inner/file.txt'), 'SECRET');
  const untouched = statSync(join(outside, 'inner/file.txt'), {bigint: true});
  const workspace = openWorkspaceForTest(root);

  const stop = new Int32Array(new SharedArrayBuffer(8));
  const swapper = new Worker(SWAPPER, {
    eval: true,
    workerData: {directory: join(root, 'deep/swapped'), aside: join(root, 'deep/aside'), outside, stop},
  });
  const ended = new Promise(resolve => swapper.once('exit', resolve));
  await new Promise(resolve => swapper.once('online', resolve));
  const outcomes = new Map<string, number>();
  for (let call = 0; call < CALLS; call += AT_A_TIME) {
    const batch = Array.from({length: AT_A_TIME}, (_, at) => oneCall(workspace, call + at));
    for (const outcome of await Promise.all(batch)) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  Atomics.store(stop, 0, 1);
  await ended;

  // 'not_a_file' and the like never come up; 'io_error' would be a swap that confused a call.
  expect([...outcomes.keys()].sort()).toEqual(['done', 'file_not_found', 'inside', 'symlink_blocked']);
  expect(readdirSync(outside, {recursive: true}).sort()).toEqual(['inner', 'inner/file.txt']);
  expect(readFileSync(join(outside, 'inner/file.txt'), 'utf8')).toBe('SECRET');
  const after = statSync(join(outside, 'inner/file.txt'), {bigint: true});
  expect([after.mtimeNs, after.ctimeNs, after.ino]).toEqual([
    untouched.mtimeNs,
    untouched.ctimeNs,
    untouched.ino,
  ]);
  // The race was one: the swapper got through many rounds meanwhile.
  expect(Atomics.load(stop, 1)).toBeGreaterThan(100);
});

/** Mostly reads; one call in sixteen writes a file, one removes it. Yields what was read, or the code. */
async function oneCall(workspace: Workspace, call: number): Promise<string> {
  const kind = call % 16;
  const path = workspace.resolveForWrite(
    kind > 13 ? `deep/swapped/inner/w${call & ~15}` : 'deep/swapped/inner/file.txt',
  );
  if (!path.ok) return path.error.code;
  if (kind === 14) {
    const staged = await workspace.stage(path.value, new Uint8Array(8));
    const written = staged.ok ? await staged.value.commit() : staged;
    return written.ok ? 'done' : written.error.code;
  }
  if (kind === 15) {
    const removed = await workspace.remove(path.value);
    return removed.ok ? 'done' : removed.error.code;
  }
  const file = await workspace.openFile(path.value);
  if (!file.ok) return file.error.code;
  const content = await readWhole(file.value);
  return content.ok ? new TextDecoder().decode(content.value) : content.error.code;
}
