// Lists and prunes run directories by age and size. A run in use stays.

/**
 * The runs that are kept below one directory: their names, and the removal of what is past its time or its room.
 * A run leaves its place in one step, under its own lock, so nobody ever meets half a run. (M1)
 */
import type {Stats} from 'node:fs';
import {lstat, mkdir, readdir, readFile, rename, rm} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {type Clock, randomHex, timestamp} from '../core/clock.ts';
import {fail, ok, type Result} from '../core/result.ts';
import {errorCode, ifRefusedLater} from '../system/errors.ts';
import {takeFileLock} from '../system/file-lock.ts';
import {replaceFile} from '../system/replace-file.ts';
import {PendingApprovals} from './approvals/pending.ts';
import {ioFailure} from './event-log.ts';
import {isRunInUse, runLockPath} from './run-directory.ts';

export const DAY_MS = 86_400_000;
/** Measuring 700 runs takes 110 to 190 ms of CPU, and a command line starts a session for each call. */
const PRUNE_EVERY_MS = 3_600_000;
/** Runs on their way out. A pruner that was killed leaves them here; the next one goes on. */
const REMOVED = '.removed';
const PRUNED = '.pruned';
const NAME = /^(\d{8})T(\d\d)(\d\d)(\d\d)\d{3}Z-[0-9a-f]{8}$/;

/** Sorts by time. */
export function newRunName(clock: Clock): string {
  return `${timestamp(clock.now()).replace(/[^0-9TZ]/g, '')}-${randomHex(4)}`;
}

/** Whether we chose the name. A run directory that somebody named is never removed. */
export function isOurRunName(name: string): boolean {
  return NAME.test(name);
}

/** What may stay. A run that is open, younger than a day or waiting for an answer stays in any case. */
export interface Retention {
  readonly maxAgeMs: number;
  /** Of all runs together. */
  readonly maxBytes: number;
  readonly maxRuns?: number | undefined;
}

export interface KeptRun {
  readonly name: string;
  readonly path: string;
  /** When its log was written to last, in milliseconds since 1970. */
  readonly time: number;
  readonly bytes: number;
}

export interface Pruning {
  /** Oldest first. */
  readonly removed: readonly KeptRun[];
  readonly kept: number;
}

/** At most once an hour, what `pruneRuns` does. A failure is that of files; the session goes on. */
export async function pruneOnceAnHour(
  root: string,
  retention: Retention,
  clock: Clock,
): Promise<Result<undefined>> {
  const mark = join(root, PRUNED);
  try {
    const last = Date.parse(await readFile(mark, 'utf8').catch(() => ''));
    if (Math.abs(clock.now() - last) < PRUNE_EVERY_MS) return ok();
    const pruned = await pruneRuns(root, retention, {clock});
    // Another process is at it.
    if (!pruned.ok) return pruned.error.details['error'] === 'in_use' ? ok() : pruned;
    await replaceFile(mark, timestamp(clock.now()));
    return ok();
  } catch (error) {
    return ioFailure(error, root, 'remove old runs from');
  }
}

/**
 * Removes the runs of `root` that are too old, and the oldest of those that are too many or too large together.
 * With `dryRun` it only says which. Errors: `io_error`, with the detail `in_use` while another process prunes.
 */
export async function pruneRuns(
  root: string,
  {maxAgeMs, maxBytes, maxRuns = Number.POSITIVE_INFINITY}: Retention,
  {clock, dryRun = false}: {readonly clock: Clock; readonly dryRun?: boolean},
): Promise<Result<Pruning>> {
  const grave = join(root, REMOVED);
  try {
    const lock = dryRun ? undefined : await takeFileLock(join(root, '.prune.lock'), {clock});
    if (lock?.state === 'busy') {
      return fail('io_error', `Another process removes runs in ${root}. Try again when it is done.`, {
        path: root,
        error: 'in_use',
        operation: 'prune',
      });
    }
    try {
      const runs = await keptRuns(root);
      const removed: KeptRun[] = [];
      let bytes = runs.reduce((sum, run) => sum + run.bytes, 0);
      for (const run of runs) {
        const age = clock.now() - run.time;
        const isPast = age > maxAgeMs || bytes > maxBytes || runs.length - removed.length > maxRuns;
        // All that follow are younger.
        if (!isPast || age < DAY_MS) break;
        if (!(dryRun ? await isFree(run, clock) : await moveAway(run, grave, clock))) continue;
        removed.push(run);
        bytes -= run.bytes;
      }
      if (!dryRun) await rm(grave, {recursive: true, force: true});
      return ok({removed, kept: runs.length - removed.length});
    } finally {
      lock?.release();
    }
  } catch (error) {
    // Nobody has run anything yet.
    return errorCode(error) === 'ENOENT' ? ok({removed: [], kept: 0}) : ioFailure(error, root, 'prune');
  }
}

/** The one that was written to longest ago first. */
async function keptRuns(root: string): Promise<readonly KeptRun[]> {
  const runs: KeptRun[] = [];
  for (const name of (await readdir(root)).filter(isOurRunName)) {
    const path = join(root, name);
    const time = await writtenAt(root, name);
    if (time !== undefined) runs.push({name, path, time, bytes: await bytesOf(path)});
  }
  return runs.sort((one, other) => one.time - other.time || (one.name < other.name ? -1 : 1));
}

/** `undefined` where no run is. One that was killed before its first line has the time of its name. */
async function writtenAt(root: string, name: string): Promise<number | undefined> {
  if ((await info(join(root, name)))?.isDirectory() !== true) return undefined;
  const log = await info(join(root, name, 'events.jsonl'));
  const [, date, hour, minute, second] = NAME.exec(name) ?? [];
  return log?.mtimeMs ?? Date.parse(`${date?.replace(/(....)(..)/, '$1-$2-')}T${hour}:${minute}:${second}Z`);
}

async function bytesOf(directory: string): Promise<number> {
  const entries = await readdir(directory, {withFileTypes: true}).catch(() => []);
  const sizes = entries.map(async entry => {
    const path = join(directory, entry.name);
    return entry.isDirectory() ? bytesOf(path) : ((await info(path))?.size ?? 0);
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** False where the run is in use, waits, or was written to meanwhile. */
async function moveAway(run: KeptRun, grave: string, clock: Clock): Promise<boolean> {
  try {
    const lock = await takeFileLock(runLockPath(run.path), {clock});
    if (lock.state === 'busy') return false;
    try {
      if ((await writtenAt(dirname(run.path), run.name)) !== run.time || (await isWaiting(run, clock)))
        return false;
      await mkdir(grave, {recursive: true, mode: 0o700});
      await rename(run.path, join(grave, `${run.name}-${randomHex(4)}`));
      return true;
    } finally {
      lock.release();
    }
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    // One run that cannot be moved keeps nobody from removing the others.
    return false;
  }
}

async function isFree(run: KeptRun, clock: Clock): Promise<boolean> {
  return !isRunInUse(run.path, clock) && !(await isWaiting(run, clock));
}

async function isWaiting({path}: KeptRun, clock: Clock): Promise<boolean> {
  const waiting = await new PendingApprovals(path, clock).list();
  return !waiting.ok || waiting.value.length > 0;
}

async function info(path: string): Promise<Stats | undefined> {
  return ifRefusedLater(() => lstat(path), undefined, 'ENOENT');
}
