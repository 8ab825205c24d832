import type {Failure} from '../../core/failure/failure.ts';
import {type Err, ok, type Result} from '../../core/result.ts';
import type {Workspace} from '../jail/jail.ts';
import type {StagedFile} from '../jail/staged-file.ts';
import type {WorkspacePath, WritablePath} from '../workspace-path.ts';
import {currentHash} from './current-hash.ts';
import type {Journal, JournalEntry, Leftovers} from './journal-file.ts';
import {STAGED_AT_ONCE} from './staged-at-once.ts';

export interface RolledBack {
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
    // Whoever called ends the journal next: the renames have to be sure to stay.
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
  {temporary, directories}: Leftovers,
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
