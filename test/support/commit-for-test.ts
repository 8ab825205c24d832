import {ok, type Result} from '../../src/core/result.ts';
import {type ChangeOptions, changeWorkspace} from '../../src/workspace/edit/change-workspace.ts';
import {removeEmptyDirectories} from '../../src/workspace/edit/remove-empty-directories.ts';
import type {Workspace} from '../../src/workspace/jail/jail.ts';
import {renderUndo} from '../../src/workspace/patch/diff/render-undo.ts';
import {fileWrites} from '../../src/workspace/patch/file-writes.ts';
import type {PatchPlan} from '../../src/workspace/patch/plan-patch.ts';
import {atOnce} from '../../src/workspace/turns.ts';

export interface CommittedPatch {
  readonly changed_files: readonly string[];
  readonly patch_size_bytes: number;
  readonly offsets: PatchPlan['offsets'];
  readonly recounted_hunks: number;
  readonly cross_check: PatchPlan['crossCheck'];
  readonly undo: Buffer;
}

/** What a tool does with a plan, without a session and a run. */
export async function commitForTest(
  workspace: Workspace,
  plan: PatchPlan,
  options: ChangeOptions,
): Promise<Result<CommittedPatch>> {
  const done = await changeWorkspace(workspace, options, undefined, held =>
    held.commit(fileWrites(plan.changes)),
  );
  if (!done.ok) return done;
  for (const change of plan.changes) {
    if (change.kind === 'delete') removeEmptyDirectories(workspace, change.path);
    if (change.kind === 'rename') removeEmptyDirectories(workspace, change.from);
  }
  return ok({
    changed_files: plan.changedFiles,
    patch_size_bytes: plan.patchSizeBytes,
    offsets: plan.offsets,
    recounted_hunks: plan.recounted,
    cross_check: plan.crossCheck,
    undo: atOnce(renderUndo(plan.changes)),
  });
}
