import {ok, type Result} from '../../core/result.ts';
import type {ToolContext} from '../../core/tool.ts';
import type {FileWrite, HeldWorkspace} from '../../workspace/edit/held-workspace.ts';
import type {CallTime} from '../../workspace/limit-call.ts';
import type {FileChange} from '../../workspace/patch/file-change.ts';
import {fileWrites} from '../../workspace/patch/file-writes.ts';
import {staleRead} from '../../workspace/refusals.ts';
import type {WorkspaceSession} from '../files/workspace-session.ts';
import type {PlannedChange} from './planned-change.ts';
import {recordChange} from './record-change.ts';
import {lineMoves, refreshTracker} from './refresh-tracker.ts';

interface ChangeRequest<Plan> {
  readonly plan: Plan;
  readonly describe: (plan: Plan) => PlannedChange;
  /**
   * Works it out anew on the files as they are now. Undefined where the plan is bound to the files as they
   * were, because the approver approved just that, or because its text was written without knowing the change between.
   */
  readonly replan: (() => Promise<Result<Plan>>) | undefined;
  readonly time: CallTime;
}

interface PreparedChange<Plan> {
  readonly plan: Plan;
  readonly change: PlannedChange;
  readonly writes: readonly FileWrite[];
}

/**
 * Ruling W19: the one way in which a tool changes files. The value is the plan that is in the tree now; with any
 * failure nothing of it is. The record is written first: no change is without its undo. A change that fails
 * then leaves a record that undo refuses, as the files are not what it says.
 */
export async function makeChange<Plan>(
  {workspace, tracker, journal}: WorkspaceSession,
  context: ToolContext,
  {plan, describe, replan, time}: ChangeRequest<Plan>,
): Promise<Result<Plan>> {
  const {changeWorkspace} = await import('../../workspace/edit/change-workspace.ts');
  return changeWorkspace(workspace, journal, time, async held => {
    await reportRecovery(context, held);
    const current = await onPresentFiles(held);
    if (!current.ok) return current;
    const {change, writes} = current.value;
    const moves = await lineMoves(tracker, change.changes, time);
    if (!moves.ok) return moves;
    const recorded = await recordChange(context, change, time);
    if (!recorded.ok) return recorded;
    const done = await held.commit(writes, time);
    if (!done.ok) return done;
    await tidyUp(change.changes);
    if (change.knows !== 'nothing') refreshTracker(tracker, change.changes, moves.value);
    for (const {path, new: fresh} of writes) {
      if (change.knows === 'nothing') tracker.forget(path);
      if (change.knows === 'all' && fresh !== undefined) tracker.record(path, fresh.hash);
    }
    await context.emit('PATCH_APPLIED', {...change.event, ...recorded.value});
    return ok(current.value.plan);
  });

  function prepared(of: Plan): PreparedChange<Plan> {
    const change = describe(of);
    return {plan: of, change, writes: fileWrites(change.changes)};
  }

  /** The plan if the files are as it found them. If only this session changed them since, a new one. */
  async function onPresentFiles(held: HeldWorkspace): Promise<Result<PreparedChange<Plan>>> {
    const first = prepared(plan);
    // What the session knows to be as planned is compared right before the rename anyway, and not here as well.
    const suspect = first.writes.filter(({path, old}) => {
      const known = tracker.baseVersion(path);
      return old === undefined || !known.ok || known.value !== old.hash;
    });
    const changed = await held.firstChanged(suspect, time);
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
    const still = await held.firstChanged(second.writes, time);
    if (!still.ok) return still;
    return still.value === undefined ? ok(second) : staleRead(still.value.path);
  }

  async function tidyUp(changes: readonly FileChange[]): Promise<void> {
    const {removeEmptyDirectories} = await import('../../workspace/edit/remove-empty-directories.ts');
    for (const change of changes) {
      if (change.kind === 'delete') removeEmptyDirectories(workspace, change.path);
      if (change.kind === 'rename') removeEmptyDirectories(workspace, change.from);
    }
  }
}

/** review R6: what was taken back is in the log. */
async function reportRecovery(context: ToolContext, {recovered}: HeldWorkspace): Promise<void> {
  const {undone, files, conflicts} = recovered;
  if (undone > 0) await context.emit('JOURNAL_RECOVERED', {undone, files, conflicts});
}
