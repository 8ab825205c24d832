import {ok, type Result} from '../../core/result.ts';
import type {ContentHash} from '../content-hash.ts';
import type {Workspace} from '../jail.ts';
import {hashOpenFile} from '../open-file.ts';
import type {WorkspacePath, WritablePath} from '../workspace-path.ts';
import type {Journal, JournalEntry} from './journal-file.ts';

/** Names of the temporary files that the jail makes beside its targets. */
const TEMPORARY = /^\.forge-[0-9a-f]{16}\.tmp$/;

/**
 * Takes back what a journal announces, as far as it has happened; to do it twice does no harm. A file
 * that is in neither of its two states was changed by somebody else and is left alone; the value names
 * those files.
 */
export async function rollBack(
  workspace: Workspace,
  journal: Journal,
): Promise<Result<readonly WritablePath[]>> {
  const conflicts: WritablePath[] = [];
  for (const entry of journal.entries.toReversed()) {
    const restored = await restore(workspace, entry);
    if (!restored.ok) return restored;
    if (!restored.value) conflicts.push(entry.path);
  }
  const foreign = new Set(journal.foreign);
  for (const temporary of await temporaryFiles(
    workspace,
    journal.entries.map(entry => entry.path),
  )) {
    if (foreign.has(temporary)) continue;
    const removed = await workspace.remove(temporary);
    if (!removed.ok && removed.error.code !== 'file_not_found') return removed;
  }
  for (const directory of journal.directories.toReversed()) workspace.removeDirectory(directory);
  return ok(conflicts);
}

/** False for a conflict. */
async function restore(workspace: Workspace, {path, old, newHash}: JournalEntry): Promise<Result<boolean>> {
  const current = await currentHash(workspace, path);
  if (!current.ok) return current.error.code === 'io_error' ? current : ok(false);
  const isOld = current.value === old?.hash;
  if (isOld && (old === undefined || modeOf(workspace, path) === old.mode)) return ok(true);
  if (!isOld && current.value !== newHash) return ok(false);
  const expected = current.value ?? 'absent';
  if (old === undefined) {
    const removed = await workspace.remove(path, expected);
    return removed.ok ? ok(true) : removed;
  }
  const staged = await workspace.stage(path, old.bytes, {mode: old.mode});
  if (!staged.ok) return staged;
  const committed = await staged.value.commit(expected);
  return committed.ok ? ok(true) : committed;
}

/** Undefined where there is nothing. */
export async function currentHash(
  workspace: Workspace,
  path: WorkspacePath,
): Promise<Result<ContentHash | undefined>> {
  const file = await workspace.openFile(path);
  if (!file.ok) return file.error.code === 'file_not_found' ? ok(undefined) : file;
  try {
    return await hashOpenFile(file.value);
  } finally {
    await file.value.close();
  }
}

function modeOf(workspace: Workspace, path: WorkspacePath): number | undefined {
  const info = workspace.inspect(path);
  return info.ok ? info.value.mode : undefined;
}

/** Temporary files of the jail beside the given ones. */
export async function temporaryFiles(
  workspace: Workspace,
  paths: readonly WritablePath[],
): Promise<readonly WritablePath[]> {
  const directories = new Set(paths.map(path => path.slice(0, Math.max(0, path.lastIndexOf('/')))));
  const found: WritablePath[] = [];
  for (const name of directories) {
    const directory = workspace.resolve(name || '.');
    const opened = directory.ok ? workspace.openDirectory(directory.value) : directory;
    if (!opened.ok) continue;
    const entries = await opened.value.entries();
    opened.value.close();
    for (const entry of entries.ok ? entries.value : []) {
      if (entry.kind !== 'file' || !TEMPORARY.test(entry.name)) continue;
      const path = workspace.resolveForWrite(name === '' ? entry.name : `${name}/${entry.name}`);
      if (path.ok) found.push(path.value);
    }
  }
  return found;
}
