// Locks a workspace for one change at a time, and recovers interrupted changes first.

import {lstat, readdir, rm} from 'node:fs/promises';
import {join} from 'node:path';
import type {Clock} from '../../core/clock.ts';
import type {Deadline} from '../../core/deadline.ts';
import {type Err, type Failure, fail, ok, type Result} from '../../core/result.ts';
import {type Foreign, makeOwnDirectory} from '../../system/directories.ts';
import {ifRefusedLater} from '../../system/errors.ts';
import {Mutex, takeFileLock} from '../../system/file-lock.ts';
import type {Workspace} from '../jail/jail.ts';
import {attempt} from '../refusals.ts';
import {LockedWorkspace} from './commit.ts';
import {workspaceKey} from './journal.ts';
import {type Recovery, recoverJournals} from './recover.ts';

export type {LockedWorkspace, Recovery};

export interface ChangeOptions {
  /** For lock and journals: outside the workspace, the same for all processes that change it. */
  readonly directory: string;
  readonly clock: Clock;
  /** How long to wait for another call that changes the workspace. */
  readonly waitMs?: number;
  /** Told after each step that changed something on disk. For tests that stop there. */
  readonly onStep?: (step: string) => void;
}

/** The calls of all sessions of this process, by the workspace itself and not by its name. */
const queues = new Mutex();

/**
 * Ruling W19: everything that changes files goes through here, one call after the other: in this process by a
 * queue, among processes by a lock. What an interrupted change left half done is taken back first.
 */
export async function changeWorkspace<Value>(
  workspace: Workspace,
  options: ChangeOptions,
  deadline: Deadline | undefined,
  change: (held: LockedWorkspace) => Promise<Result<Value>>,
): Promise<Result<Value>> {
  const {directory, clock, waitMs = 5_000, onStep = () => {}} = options;
  const path = join(directory, `${workspaceKey(workspace.root)}.lock`);
  const patience = new AbortController();
  const cancelTimer = clock.after(waitMs, () => patience.abort());
  const signal =
    deadline === undefined ? patience.signal : AbortSignal.any([patience.signal, deadline.signal]);
  const taken = await lockOut(workspace.identity, path, {directory, clock, waitMs, signal}).finally(
    cancelTimer,
  );
  if (!taken.ok) return taken;
  if (taken.value === undefined) return deadline?.spent === true ? deadline.failure() : busy(path);
  try {
    onStep('locked');
    const recovered = await recoverJournals(workspace, directory);
    if (!recovered.ok) return recovered;
    return await change(new LockedWorkspace(workspace, {directory, onStep, recovered: recovered.value}));
  } finally {
    taken.value();
  }
}

/** To be called once at the start: takes back what an interrupted call left half done. */
export function recoverWorkspace(workspace: Workspace, options: ChangeOptions): Promise<Result<Recovery>> {
  return changeWorkspace(workspace, options, undefined, async ({recovered}) => {
    await removeLeftovers(options.directory, options.clock);
    return ok(recovered);
  });
}

interface LockWait {
  readonly directory: string;
  readonly clock: Clock;
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/** The value lets the next one in; undefined where the wait was over first. */
async function lockOut(
  {dev, ino}: Workspace['identity'],
  path: string,
  {directory, clock, waitMs, signal}: LockWait,
): Promise<Result<(() => void) | undefined>> {
  const made = await attempt(directory, 'create', async () => makeOwnDirectory(directory));
  if (!made.ok) return made;
  // review R6: who could write there could have us write into the workspace.
  if (made.value !== undefined) return foreign(directory, made.value);
  // Review R4: by what the root is, not by what its name leads to now.
  const leave = await queues.take(`${dev}:${ino}`, signal);
  if (leave === undefined) return ok(undefined);
  const lock = await attempt(path, 'lock', () => takeFileLock(path, {clock, waitMs, signal})).catch(
    (error: unknown) => {
      leave();
      throw error;
    },
  );
  if (!lock.ok || lock.value.state === 'busy') {
    leave();
    return lock.ok ? ok(undefined) : lock;
  }
  const {release} = lock.value;
  return ok(() => {
    release();
    leave();
  });
}

function busy(path: string): Err<Failure> {
  return fail(
    'io_error',
    `Another call is changing the workspace and holds ${path}. Try again in a moment.`,
    {path, error: 'EBUSY', operation: 'lock'},
  );
}

const WHY: Readonly<Record<Foreign, string>> = {
  not_a_directory: 'is no directory',
  other_owner: 'belongs to another user',
  writable_by_others: 'can be written by other users',
};

function foreign(directory: string, why: Foreign): Err<Failure> {
  return fail(
    'io_error',
    `The state directory ${directory} ${WHY[why]}, so its locks and journals are not trusted. Remove it, or set XDG_STATE_HOME to a directory of your own.`,
    {path: directory, error: why, operation: 'lock'},
  );
}

/** No call takes as long as this, so what is older was left by a process that was killed. */
const STALE_MS = 3_600_000;
/** Private copies for GNU patch, and lock files that were never put in place. */
const SCRATCH = /^patch-|\.draft$/;

/** Removes what killed processes left in the state directory, beside journals. Best effort. */
export async function removeLeftovers(directory: string, clock: Clock): Promise<void> {
  await ifRefusedLater(async () => {
    for (const name of await readdir(directory)) {
      if (!SCRATCH.test(name)) continue;
      const path = join(directory, name);
      const {mtimeMs} = await lstat(path);
      if (clock.now() - mtimeMs > STALE_MS) await rm(path, {recursive: true, force: true});
    }
  });
}
