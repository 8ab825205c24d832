// Takes back changes that a killed process left half done.
import {type Err, type Failure, ok, type Result} from '../../core/result.ts';
import type {Workspace} from '../jail/jail.ts';
import type {StagedFile} from '../jail/staged-file.ts';
import {attempt} from '../refusals.ts';
import type {WorkspacePath, WritablePath} from '../workspace-path.ts';
import {currentHash} from './file-change.ts';
import {
  endJournal,
  endPending,
  findJournals,
  type Journal,
  type JournalEntry,
  type PendingWrite,
  readJournal,
  readPending,
  setJournalAside,
} from './journal.ts';

/** What was taken back because a process ended in the middle of it. */
export interface Recovery {
  /** Changes of several files that were interrupted. */
  readonly undone: number;
  /** Files that were changed by that, and are as they were before. */
  readonly files: readonly WritablePath[];
  /** Files that another process changed after the interruption, and that were left alone. */
  readonly conflicts: readonly WritablePath[];
}

/** To be called under the lock of the workspace: takes back what interrupted changes left half done. */
export async function recoverJournals(workspace: Workspace, directory: string): Promise<Result<Recovery>> {
  const found = await attempt(directory, 'list', async () => findJournals(directory, workspace.root));
  if (!found.ok) return found;
  const files: WritablePath[] = [];
  const conflicts: WritablePath[] = [];
  for (const path of found.value.intents) {
    const pending = await readPending(path, workspace);
    const cleared = pending === undefined ? ok() : await clear(workspace, pending);
    if (!cleared.ok) return neededBy(path, cleared);
    endPending(path);
  }
  for (const path of found.value.journals) {
    const journal = await readJournal(path, workspace);
    if (!journal.ok) {
      const {kind, failure} = journal.error;
      if (kind !== 'damaged') return failure;
      // It says nothing that could be followed, so it need not stop the next call as well.
      const aside = await attempt(path, 'move away', () => setJournalAside(path, 'damaged'));
      if (!aside.ok) return failure;
      const message = `${failure.error.message} It is kept as ${aside.value}; the next call goes on.`;
      return {ok: false, error: {...failure.error, message}};
    }
    const rolledBack = await rollBack(workspace, journal.value);
    if (!rolledBack.ok) return neededBy(path, rolledBack);
    const put = await attempt<unknown>(path, 'remove', () =>
      rolledBack.value.conflicts.length > 0 ? setJournalAside(path, 'conflict') : endJournal(path),
    );
    if (!put.ok) return put;
    files.push(...rolledBack.value.restored);
    conflicts.push(...rolledBack.value.conflicts);
  }
  return ok({undone: found.value.journals.length, files, conflicts});
}

/** Every later call meets this again, so it says what it was for and how to get past it. */
function neededBy(journal: string, {error}: Err<Failure>): Err<Failure> {
  const message = `${error.message} It has to be done to take back an interrupted change; to go on without that, move ${journal} away.`;
  return {ok: false, error: {...error, message}};
}

interface RolledBack {
  /** Files that are now as they were before; some never were anything else. */
  readonly restored: readonly WritablePath[];
  /** In neither of their two states: another process changed them, and they are left alone. */
  readonly conflicts: readonly WritablePath[];
}

/**
 * Takes back what a journal announces, as far as it has happened; to do it twice does no harm. W19: a few
 * files at a time and one flush a directory, so that a large change is taken back before its call has to answer.
 */
export async function rollBack(workspace: Workspace, journal: Journal): Promise<Result<RolledBack>> {
  const restored: WritablePath[] = [];
  const conflicts: WritablePath[] = [];
  const replaced: StagedFile[] = [];
  const entries = journal.entries.toReversed();
  try {
    for (let at = 0; at < entries.length; at += STAGED_AT_ONCE) {
      const some = entries.slice(at, at + STAGED_AT_ONCE);
      const done = await Promise.all(some.map(entry => restore(workspace, entry, replaced)));
      for (const one of done) {
        if (!one.ok) return one;
        if (one.value.state === 'conflict') conflicts.push(one.value.path);
        if (one.value.state === 'restored') restored.push(one.value.path);
      }
    }
    // The caller ends the journal next, so the renames must be on the disk.
    const synchronised = new Set<string>();
    for (const file of replaced) await file.synchronise(synchronised);
  } finally {
    for (const file of replaced) file.discard();
  }
  for (const {temporary} of journal.entries) {
    const removed = await clear(workspace, {temporary, directories: []});
    if (!removed.ok) return removed;
  }
  for (const directory of journal.directories.toReversed()) workspace.removeDirectory(directory);
  return ok({restored, conflicts});
}

/** Removes a temporary file, and the directories that were made for it where they are empty. */
export async function clear(
  workspace: Workspace,
  {temporary, directories}: PendingWrite,
): Promise<Result<undefined>> {
  const removed = await workspace.remove(temporary);
  if (!removed.ok && removed.error.code === 'io_error') return removed;
  for (const directory of directories.toReversed()) workspace.removeDirectory(directory);
  return ok();
}

interface Restored {
  readonly path: WritablePath;
  readonly state: 'restored' | 'as_before' | 'conflict';
}

/** Adds what is in its place, and not synchronised yet, to `replaced`. */
async function restore(
  workspace: Workspace,
  {path, old, newHash}: JournalEntry,
  replaced: StagedFile[],
): Promise<Result<Restored>> {
  const current = await currentHash(workspace, path);
  if (!current.ok) return leftAlone(path, current);
  const isOld = current.value === old?.hash;
  if (isOld && (old === undefined || modeOf(workspace, path) === old.mode)) {
    return ok({path, state: 'as_before'});
  }
  if (!isOld && current.value !== newHash) return ok({path, state: 'conflict'});
  const expected = current.value ?? 'absent';
  if (old === undefined) {
    const removed = await workspace.remove(path, expected);
    return removed.ok ? ok({path, state: 'restored'}) : leftAlone(path, removed);
  }
  const staged = await workspace.stage(path, old.bytes, {mode: old.mode, owner: old.owner});
  if (!staged.ok) return leftAlone(path, staged);
  const put = await staged.value.replace(expected);
  if (!put.ok) return leftAlone(path, put);
  replaced.push(staged.value);
  return ok({path, state: 'restored'});
}

/**
 * What the system refused may work the next time. Anything else (a link, a hard link, another content) is
 * another process's change: to stop for it would stop every later call as well.
 */
function leftAlone(path: WritablePath, failed: Err<Failure>): Result<Restored> {
  return failed.error.code === 'io_error' ? failed : ok({path, state: 'conflict'});
}

function modeOf(workspace: Workspace, path: WorkspacePath): number | undefined {
  const info = workspace.inspect(path);
  return info.ok ? info.value.mode : undefined;
}

/** Files that are written at the same time: most of the time goes by waiting for the disk. */
export const STAGED_AT_ONCE = 8;
