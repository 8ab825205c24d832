// Plans a patch: parse, apply, ask GNU patch, render the diff.
import type {Deadline} from '../../core/deadline.ts';
import {type Err, type Failure, fail, ok, type Result} from '../../core/result.ts';
import {changedPaths, type FileChange, readState} from '../change/file-change.ts';
import type {Workspace} from '../jail/jail.ts';
import {inTurns} from '../open-file.ts';
import type {ReadTracker} from '../read-tracker.ts';
import {attempt} from '../refusals.ts';
import {bytewise} from '../walk/tree-walk.ts';
import type {WritablePath} from '../workspace-path.ts';
import type {FileHistory} from './apply-hunks.ts';
import {type CrossCheck, type CrossCheckOptions, crossCheck} from './cross-check.ts';
import {type AppliedOffset, overlayPatch, type PatchNote, type PatchTree} from './overlay.ts';
import {parsePatchInTurns} from './parse-patch.ts';
import type {ByteString} from './patch.ts';
import {type DiffStat, diffStat, renderFileChanges} from './unified.ts';

export interface PlanOptions {
  /** Runs GNU `patch` for the second opinion; without it there is none. */
  readonly crossCheck?: CrossCheckOptions | undefined;
  readonly deadline?: Deadline | undefined;
  /** W15: what the session had read when the call came: the line numbers of the patch are meant for that. */
  readonly tracker?: ReadTracker | undefined;
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
  readonly notes: readonly PatchNote[];
  /** Hunks whose header had wrong line counts. */
  readonly recounted: number;
  /** H4: what the question for an approval shows. It is computed from the files, not quoted from the patch. */
  readonly diff: ByteString;
  readonly stat: DiffStat;
  readonly crossCheck: 'agrees' | 'unavailable';
}

/** Works out what `patch` does to the workspace, or everything that keeps it from applying. */
export async function planPatch(
  workspace: Workspace,
  patch: string | Uint8Array,
  options: PlanOptions = {},
): Promise<Result<PatchPlan>> {
  const strict = await parsePatchInTurns(patch, options.deadline);
  const parsed = strict.ok ? strict : await parsePatchInTurns(patch, options.deadline, {asMeant: true});
  if (!parsed.ok) return strict.ok ? parsed : strict;
  const {sections} = parsed.value;
  // W22: a path without its prefix is that of a file that is there.
  if (!strict.ok && sections.every(({kind}) => kind === 'create')) return strict;
  const overlaid = await overlayPatch(treeOf(workspace, options), sections, options.deadline);
  if (!overlaid.ok)
    return strict.ok || overlaid.error.code === 'timeout' ? overlaid : unlikeBoth(strict, overlaid);
  const {changes, offsets, notes, histories} = overlaid.value;
  const second = await secondOpinion(histories, options.crossCheck);
  if (!second.ok) return second;
  const checked = second.value;
  if (checked.outcome === 'differs') {
    const message = `GNU patch does not come to the same result: ${checked.reason}. Nothing was written. Rebuild the hunks with more context.`;
    return fail('patch_hunk_fail', message, {problems: [{message: checked.reason}]});
  }
  const diffs = await inTurns(renderFileChanges(changes), options.deadline);
  if (!diffs.ok) return diffs;
  return ok({
    changes,
    changedFiles: changedPaths(changes).sort(bytewise),
    patchSizeBytes: parsed.value.sizeBytes,
    offsets,
    notes,
    recounted: parsed.value.recounted,
    diff: diffs.value.map(diff => diff.text).join(''),
    stat: diffStat(diffs.value),
    crossCheck: checked.outcome,
  });
}

/** What is no patch by the format, and fits no file as it was perhaps meant either. */
function unlikeBoth(strict: Err<Failure>, {error}: Err<Failure>): Err<Failure> {
  const isBodyWrong = /begins with " ", "-" or "\+"|belongs to no hunk/.test(strict.error.message);
  return error.code === 'patch_hunk_fail' && !isBodyWrong ? {ok: false, error} : strict;
}

/** Where it could not be asked for want of the program, there is none; where the system failed, so do we. */
async function secondOpinion(
  histories: readonly FileHistory[],
  options: CrossCheckOptions | undefined,
): Promise<Result<CrossCheck>> {
  if (options === undefined) return ok({outcome: 'unavailable'});
  return attempt(options.directory, 'check the patch in', () => crossCheck(histories, options));
}

function treeOf(workspace: Workspace, {tracker, deadline}: PlanOptions): PatchTree {
  return {
    lineNumbers: (path, state) => {
      const known = tracker?.baseVersion(path);
      if (known?.ok !== true) return 'unread';
      return known.value === state.hash ? 'as_read' : 'changed';
    },
    resolve: workspace.resolveForWrite,
    read: async path => {
      const state = await readState(workspace, path, deadline);
      return !state.ok && state.error.code === 'file_not_found' ? ok(undefined) : state;
    },
    blockingFile: path => {
      for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
        const above = path.slice(0, end) as WritablePath;
        const info = workspace.inspect(above);
        if (info.ok) return info.value.kind === 'directory' ? undefined : above;
      }
      return undefined;
    },
  };
}
