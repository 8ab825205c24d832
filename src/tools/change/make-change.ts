// Makes a planned change: check the files, record for undo, commit, update what the session has read.
import type {Deadline} from '../../core/deadline.ts';
import {ok, type Result} from '../../core/result.ts';
import type {ToolContext} from '../../core/tool.ts';
import type {LockedWorkspace} from '../../workspace/change/commit.ts';
import {type FileChange, fileWrites} from '../../workspace/change/file-change.ts';
import {inTurns} from '../../workspace/open-file.ts';
import {lineEdits} from '../../workspace/patch/changed-window.ts';
import type {LineEdit} from '../../workspace/patch/diff-lines.ts';
import {type ReadTracker, seenAfter} from '../../workspace/read-tracker.ts';
import {staleRead} from '../../workspace/refusals.ts';
import type {WorkspaceSession} from '../files/session.ts';
import {type PlannedChange, recordChange} from './record-change.ts';

interface ChangeRequest<Plan> {
  readonly plan: Plan;
  readonly describe: (plan: Plan) => PlannedChange;
  /**
   * Works it out anew on the files as they are now. Undefined where the plan is bound to the files as they
   * were, because the approver approved just that, or because its text was written without knowing the change between.
   */
  readonly replan: (() => Promise<Result<Plan>>) | undefined;
}

interface PreparedChange<Plan> {
  readonly plan: Plan;
  readonly change: PlannedChange;
  readonly writes: readonly FileChange[];
}

/**
 * Ruling W19: the one way in which a tool changes files. The value is the plan that is in the tree now; with any
 * failure nothing of it is. The record is written first: no change is without its undo. A change that fails
 * then leaves a record that undo refuses, as the files are not what it says.
 */
export async function makeChange<Plan>(
  {workspace, tracker, journal}: WorkspaceSession,
  context: ToolContext,
  {plan, describe, replan}: ChangeRequest<Plan>,
): Promise<Result<Plan>> {
  const {deadline} = context;
  const {changeWorkspace} = await import('../../workspace/change/change-workspace.ts');
  return changeWorkspace(workspace, journal, deadline, async held => {
    await reportRecovery(context, held);
    const current = await onPresentFiles(held);
    if (!current.ok) return current;
    const {change, writes} = current.value;
    const moves = await lineMoves(tracker, change.changes, deadline);
    if (!moves.ok) return moves;
    const recorded = await recordChange(context, change, deadline);
    if (!recorded.ok) return recorded;
    const done = await held.commit(writes, deadline);
    if (!done.ok) return done;
    await tidyUp(change.changes);
    if (change.afterwards !== 'unread') refreshTracker(tracker, change.changes, moves.value);
    for (const {path, new: fresh} of writes) {
      if (change.afterwards === 'unread') tracker.forget(path);
      if (change.afterwards === 'read' && fresh !== undefined) tracker.record(path, fresh.hash);
    }
    await context.emit('PATCH_APPLIED', {...change.event, ...recorded.value});
    return ok(current.value.plan);
  });

  function prepared(of: Plan): PreparedChange<Plan> {
    const change = describe(of);
    return {plan: of, change, writes: fileWrites(change.changes)};
  }

  /** The plan if the files are as it found them. If only this session changed them since, a new one. */
  async function onPresentFiles(held: LockedWorkspace): Promise<Result<PreparedChange<Plan>>> {
    const first = prepared(plan);
    // What the session knows to be as planned is compared right before the rename anyway, and not here as well.
    const suspect = first.writes.filter(({path, old}) => {
      const known = tracker.baseVersion(path);
      return old === undefined || !known.ok || known.value !== old.hash;
    });
    const changed = await held.findOutdated(suspect, deadline);
    if (!changed.ok) return changed;
    if (changed.value === undefined) return ok(first);
    const {path, now} = changed.value;
    const known = tracker.baseVersion(path);
    if (replan === undefined || !known.ok || known.value !== now) return staleRead(path);
    const again = await replan();
    if (!again.ok) return again;
    const second = prepared(again.value);
    // What was decided on was the first plan: a new one must not reach further.
    const decided = new Set(first.writes.map(one => one.path));
    const beyond = second.writes.find(one => !decided.has(one.path));
    if (beyond !== undefined) return staleRead(beyond.path);
    const still = await held.findOutdated(second.writes, deadline);
    if (!still.ok) return still;
    return still.value === undefined ? ok(second) : staleRead(still.value.path);
  }

  async function tidyUp(changes: readonly FileChange[]): Promise<void> {
    const {removeEmptyDirectories} = await import('../../workspace/change/commit.ts');
    for (const change of changes) {
      const gone = change.from ?? (change.new === undefined ? change.path : undefined);
      if (gone !== undefined) removeEmptyDirectories(workspace, gone);
    }
  }
}

/** review R6: what was taken back is in the log. */
async function reportRecovery(context: ToolContext, {recovered}: LockedWorkspace): Promise<void> {
  const {undone, files, conflicts} = recovered;
  if (undone > 0) await context.emit('JOURNAL_RECOVERED', {undone, files, conflicts});
}

/** By change: which lines became which. Only of files of which the session saw a part. */
type LineMoves = ReadonlyMap<FileChange, readonly LineEdit[]>;

/** The long part of what a session learns from its own change; to be worked out before the change is made. */
export async function lineMoves(
  tracker: ReadTracker,
  changes: readonly FileChange[],
  deadline: Deadline,
): Promise<Result<LineMoves>> {
  const moves = new Map<FileChange, readonly LineEdit[]>();
  for (const change of changes) {
    const {path, from = path, old, new: fresh} = change;
    if (old === undefined || fresh === undefined) continue;
    const known = tracker.baseVersion(from);
    if (!known.ok || known.value !== old.hash || tracker.seen(from, old.hash) === 'all') continue;
    const edits = await inTurns(lineEdits(old.content, fresh.content), deadline);
    if (!edits.ok) return edits;
    moves.set(change, edits.value);
  }
  return ok(moves);
}

/**
 * W6: a change of one's own does not close the lock of a file that was known, and does not open that of one
 * that was not. Of a new file, all is known.
 */
export function refreshTracker(tracker: ReadTracker, changes: readonly FileChange[], moves: LineMoves): void {
  for (const change of changes) {
    const {path, from = path, old, new: fresh} = change;
    if (fresh === undefined) tracker.forget(path);
    else if (old === undefined) tracker.record(path, fresh.hash);
    else {
      // What was known of the old content is known of the new one, line by line.
      const known = tracker.baseVersion(from);
      const seen = seenAfter(tracker.seen(from, old.hash), moves.get(change) ?? []);
      if (known.ok && known.value === old.hash) tracker.record(path, fresh.hash, seen);
      if (from !== path) tracker.forget(from);
    }
  }
}
