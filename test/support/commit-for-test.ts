import {ok, type Result} from '../../src/core/result.ts';
import {type ChangeOptions, changeWorkspace} from '../../src/workspace/change/change-workspace.ts';
import {removeEmptyDirectories} from '../../src/workspace/change/commit.ts';
import {fileWrites} from '../../src/workspace/change/file-change.ts';
import type {Workspace} from '../../src/workspace/jail/jail.ts';
import {atOnce} from '../../src/workspace/open-file.ts';
import type {PatchPlan} from '../../src/workspace/patch/plan-patch.ts';
import {renderUndo} from '../../src/workspace/patch/unified.ts';

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
    const gone = change.from ?? (change.new === undefined ? change.path : undefined);
    if (gone !== undefined) removeEmptyDirectories(workspace, gone);
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
