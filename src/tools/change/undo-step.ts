import {fail} from '../../core/failure/fail.ts';
import type {Failure} from '../../core/failure/failure.ts';
import {type Err, ok, type Result} from '../../core/result.ts';
import {changeWorkspace} from '../../workspace/edit/change-workspace.ts';
import {removeEmptyDirectories} from '../../workspace/edit/remove-empty-directories.ts';
import type {WorkspaceSession} from '../files/workspace-session.ts';
import {planUndo} from './plan-undo.ts';

export interface UndoneStep {
  readonly step: number;
  /** Files that are now as they were before the step. */
  readonly restored_files: readonly string[];
}

export interface UndoOptions {
  /** review R18: SHA-256 of the record as the event log has it; undefined where the log has no event of the step. */
  readonly recordHash?: string | undefined;
}

type Undoing = Pick<WorkspaceSession, 'workspace' | 'journal' | 'tracker'>;

/**
 * Takes back what a step changed, and only that, all of it or nothing, from the bytes that were there before.
 * `stale_read` if one of its files is not what the step left; `file_not_found` for a step that changed nothing.
 */
export async function undoStep(
  {workspace, journal, tracker}: Undoing,
  runDirectory: string,
  step: number,
  {recordHash}: UndoOptions = {},
): Promise<Result<UndoneStep>> {
  return changeWorkspace(workspace, journal, undefined, async held => {
    const planned = await planUndo(workspace, {runDirectory, step, recordHash});
    if (!planned.ok) return planned;
    const {writes, changed} = planned.value;
    if (changed.length > 0) return stale(step, changed);
    const done = await held.commit(writes);
    if (!done.ok) return done;
    for (const {path, new: restored} of writes) {
      if (restored === undefined) removeEmptyDirectories(workspace, path);
      // What the session knew of it is no more; it has to be read again.
      tracker.forget(path);
    }
    return ok({step, restored_files: writes.map(({path}) => path).sort()});
  });
}

function stale(step: number, changed: readonly string[]): Err<Failure> {
  const named = changed.map(path => JSON.stringify(path)).join(', ');
  return fail(
    'stale_read',
    `Step ${step} cannot be undone: ${named} changed since, or the step did not take place. Undo later steps first.`,
    {path: changed[0]},
  );
}
