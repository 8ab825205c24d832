// Undoes a step of a run for a person.
import {type Err, type Failure, fail, ok, type Result} from '../../core/result.ts';
import {changeWorkspace} from '../../workspace/change/change-workspace.ts';
import {removeEmptyDirectories} from '../../workspace/change/commit.ts';
import type {WorkspaceSession} from '../files/session.ts';
import {planUndo, readRecord} from './plan-undo.ts';

export interface UndoneStep {
  readonly step: number;
  /** Files that are now as they were before the step. */
  readonly restored_files: readonly string[];
}

export interface UndoOptions {
  /** review R18: SHA-256 of the record as the event log has it; undefined where the log has no event of the step. */
  readonly recordHash?: string | undefined;
  /** The changes that the log has behind the step, oldest first. */
  readonly later?: readonly LaterStep[];
}

export interface LaterStep {
  readonly step: number;
  readonly recordHash: string;
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
  {recordHash, later = []}: UndoOptions = {},
): Promise<Result<UndoneStep>> {
  return changeWorkspace(workspace, journal, undefined, async held => {
    const planned = await planUndo(workspace, {runDirectory, step, recordHash});
    if (!planned.ok) return planned;
    const {writes, changed} = planned.value;
    // A process that was killed may have written the record of a change that it did not come to make.
    const found = recordHash === undefined ? await foundOtherwise(runDirectory, step, later) : ok(undefined);
    if (!found.ok) return found;
    if (found.value !== undefined) return neverMade(step, found.value);
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

interface Found {
  readonly step: number;
  readonly path: string;
}

/**
 * The first later step that found a file otherwise than this step would have left it: the change was not made, or
 * was gone again. That the file is so now is the work of a later step, which may have made the same change.
 */
async function foundOtherwise(
  runDirectory: string,
  step: number,
  later: readonly LaterStep[],
): Promise<Result<Found | undefined>> {
  const record = await readRecord({runDirectory, step, recordHash: undefined});
  if (!record.ok) return record;
  const left = new Map(record.value.files.map(({path, after}) => [path, after?.sha256]));
  for (const {step: next, recordHash} of later) {
    const found = await readRecord({runDirectory, step: next, recordHash});
    if (!found.ok) return found;
    for (const {path, before} of found.value.files) {
      if (left.has(path) && left.get(path) !== before?.sha256) return ok({step: next, path});
      // What came later still says nothing of this step.
      left.delete(path);
    }
  }
  return ok(undefined);
}

function neverMade(step: number, {step: later, path}: Found): Err<Failure> {
  return fail(
    'stale_read',
    `Step ${step} cannot be undone: its process ended before it made its change, or the change was gone when step ${later} changed ${JSON.stringify(path)}. Undo step ${later} instead.`,
    {path},
  );
}

function stale(step: number, changed: readonly string[]): Err<Failure> {
  const named = changed.map(path => JSON.stringify(path)).join(', ');
  return fail(
    'stale_read',
    `Step ${step} cannot be undone: ${named} changed since, or the step did not take place. Undo later steps first.`,
    {path: changed[0]},
  );
}
