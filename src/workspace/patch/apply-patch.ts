import {createHash} from 'node:crypto';
import {fail} from '../../core/failure.ts';
import {ok, type Result} from '../../core/result.ts';
import {bytewise} from '../bytewise.ts';
import {contentHash} from '../content-hash.ts';
import type {Deadline} from '../deadline.ts';
import {MAX_WHOLE_FILE_BYTES} from '../file-system.ts';
import {attempt} from '../io-failure.ts';
import type {Workspace} from '../jail.ts';
import {readWhole} from '../open-file.ts';
import {notAFile} from '../refusals.ts';
import type {WritablePath} from '../workspace-path.ts';
import {byteString, bytesOf, readable} from './byte-string.ts';
import {commitWrites, type FileWrite, type JournalOptions} from './commit-journal.ts';
import {type CrossCheck, type CrossCheckOptions, crossCheck} from './cross-check.ts';
import {type DiffStat, diffStat} from './diff-stat.ts';
import type {FileChange, FileState} from './file-change.ts';
import {type AppliedOffset, overlayPatch, type PatchTree, type Thread} from './overlay.ts';
import {parsePatch} from './parse-patch.ts';
import {renderUndo} from './render-undo.ts';
import {renderFileChange} from './render-unified.ts';

export interface PlanOptions {
  /** Runs GNU `patch` for the second opinion; without it there is none. */
  readonly crossCheck?: CrossCheckOptions | undefined;
  readonly deadline?: Deadline | undefined;
}

/** What a patch will do. Nothing is written yet. */
export interface PatchPlan {
  readonly changes: readonly FileChange[];
  /** Relative to the workspace, bytewise order; a rename counts with both names. */
  readonly changedFiles: readonly string[];
  /** Of the patch as submitted, in bytes. */
  readonly patchSizeBytes: number;
  /** Hunks found elsewhere than they say. */
  readonly offsets: readonly AppliedOffset[];
  /** Hunks whose header had wrong line counts. */
  readonly recounted: number;
  /** H4: what the question for an approval shows. It is computed from the files, not quoted from the patch. */
  readonly diff: string;
  readonly stat: DiffStat;
  readonly crossCheck: 'agrees' | 'unavailable';
  /** SHA-256 over paths, modes and the content before and after: what an approval is bound to. */
  readonly digest: string;
}

export interface AppliedPatch {
  readonly changed_files: readonly string[];
  readonly patch_size_bytes: number;
  readonly offsets: readonly AppliedOffset[];
  readonly recounted_hunks: number;
  readonly cross_check: 'agrees' | 'unavailable';
  /** W7: the content of `step_NNNN.undo.patch`. */
  readonly undo: Buffer;
}

/** Works out what `patch` does to the workspace, or everything that keeps it from applying. */
export async function planPatch(
  workspace: Workspace,
  patch: string | Uint8Array,
  options: PlanOptions = {},
): Promise<Result<PatchPlan>> {
  const parsed = parsePatch(patch);
  if (!parsed.ok) return parsed;
  const overlaid = await overlayPatch(
    treeOf(workspace, options.deadline),
    parsed.value.sections,
    options.deadline,
  );
  if (!overlaid.ok) return overlaid;
  const {changes, offsets, threads} = overlaid.value;
  const second = await secondOpinion(threads, options.crossCheck);
  if (!second.ok) return second;
  const checked = second.value;
  if (checked.verdict === 'differs') {
    const message = `GNU patch does not come to the same result: ${checked.reason}. Nothing was written. Rebuild the hunks with more context.`;
    return fail('patch_hunk_fail', message, {problems: [{hint: 'cross_check', message: checked.reason}]});
  }
  const diffs = changes.map(renderFileChange);
  const paths = changes.flatMap(change =>
    change.kind === 'rename' ? [change.from, change.path] : [change.path],
  );
  return ok({
    changes,
    changedFiles: paths.sort(bytewise),
    patchSizeBytes: parsed.value.sizeBytes,
    offsets,
    recounted: parsed.value.recounted,
    diff: readable(diffs.map(diff => diff.text).join('')),
    stat: diffStat(diffs),
    crossCheck: checked.verdict,
    digest: digestOf(changes),
  });
}

/** Where it could not be asked for want of the program, there is none; where the system failed, so do we. */
async function secondOpinion(
  threads: readonly Thread[],
  options: CrossCheckOptions | undefined,
): Promise<Result<CrossCheck>> {
  if (options === undefined) return ok({verdict: 'unavailable'});
  return attempt(options.directory, 'check the patch in', () => crossCheck(threads, options));
}

/** Does what was planned, all of it or nothing; `stale_read` if a file is not what it was then. */
export async function commitPlan(
  workspace: Workspace,
  plan: PatchPlan,
  options: JournalOptions,
): Promise<Result<AppliedPatch>> {
  const committed = await commitWrites(workspace, plan.changes.flatMap(writesOf), options);
  if (!committed.ok) return committed;
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
    undo: renderUndo(plan.changes),
  });
}

function treeOf(workspace: Workspace, deadline: Deadline | undefined): PatchTree {
  return {
    resolve: workspace.resolveForWrite,
    read: async path => {
      const file = await workspace.openFile(path);
      if (!file.ok) return file.error.code === 'file_not_found' ? ok(undefined) : file;
      const {links, mode} = file.value.info;
      const bytes = await readWhole(file.value, {maxBytes: MAX_WHOLE_FILE_BYTES, deadline});
      if (!bytes.ok) return bytes;
      return links > 1 ? notAFile(path, 'hard_linked') : ok({content: byteString(bytes.value), mode});
    },
    obstacle: path => {
      for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
        const above = path.slice(0, end) as WritablePath;
        const info = workspace.inspect(above);
        if (info.ok) return info.value.kind === 'directory' ? undefined : above;
      }
      return undefined;
    },
  };
}

function writesOf(change: FileChange): FileWrite[] {
  const old = (state: FileState) => ({bytes: bytesOf(state.content), mode: state.mode ?? 0o644});
  const fresh = (state: FileState) => ({bytes: bytesOf(state.content), mode: state.mode});
  switch (change.kind) {
    case 'create':
      return [{path: change.path, old: undefined, new: fresh(change.new)}];
    case 'delete':
      return [{path: change.path, old: old(change.old), new: undefined}];
    case 'modify':
      return [{path: change.path, old: old(change.old), new: fresh(change.new)}];
    case 'rename':
      return [
        {path: change.path, old: undefined, new: fresh(change.new)},
        {path: change.from, old: old(change.old), new: undefined},
      ];
  }
}

/** As git does: a directory is gone with its last file. */
function removeEmptyDirectories(workspace: Workspace, path: WritablePath): void {
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    workspace.removeDirectory(path.slice(0, end) as WritablePath);
  }
}

function digestOf(changes: readonly FileChange[]): string {
  const hash = createHash('sha256');
  const state = (file: FileState | undefined): unknown =>
    file === undefined ? null : [file.mode ?? null, contentHash(bytesOf(file.content))];
  for (const change of changes) {
    const from = change.kind === 'rename' ? change.from : null;
    const before = change.kind === 'create' ? undefined : change.old;
    const after = change.kind === 'delete' ? undefined : change.new;
    hash.update(`${JSON.stringify([change.kind, change.path, from, state(before), state(after)])}\n`);
  }
  return hash.digest('hex');
}
