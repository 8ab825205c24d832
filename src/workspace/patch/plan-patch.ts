import {yieldAfter} from '../../core/async/yield-after.ts';
import {fail} from '../../core/failure/fail.ts';
import {ok, type Result} from '../../core/result.ts';
import {type Deadline, overdue} from '../deadline.ts';
import {attempt} from '../io-failure.ts';
import type {Workspace} from '../jail/jail.ts';
import {MAX_WHOLE_FILE_BYTES} from '../max-whole-file-bytes.ts';
import {readWhole} from '../open-file.ts';
import type {ReadTracker} from '../read/read-tracker.ts';
import {notAFile} from '../refusals.ts';
import {bytewise} from '../walk/bytewise.ts';
import type {WritablePath} from '../workspace-path.ts';
import {type CrossCheck, type CrossCheckOptions, crossCheck} from './apply/cross-check.ts';
import {type AppliedOffset, type FileHistory, overlayPatch, type PatchTree} from './apply/overlay.ts';
import {byteString, readable} from './byte-string.ts';
import {type DiffStat, diffStat} from './diff/diff-stat.ts';
import {type FileDiff, renderFileChange} from './diff/render-unified.ts';
import type {FileChange} from './file-change.ts';
import {parsePatchInTurns} from './parse/parse-patch.ts';
import {stateHash} from './state-hash.ts';

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
  /** Hunks whose header had wrong line counts. */
  readonly recounted: number;
  /** H4: what the question for an approval shows. It is computed from the files, not quoted from the patch. */
  readonly diff: string;
  readonly stat: DiffStat;
  readonly crossCheck: 'agrees' | 'unavailable';
}

/** Works out what `patch` does to the workspace, or everything that keeps it from applying. */
export async function planPatch(
  workspace: Workspace,
  patch: string | Uint8Array,
  options: PlanOptions = {},
): Promise<Result<PatchPlan>> {
  const parsed = await parsePatchInTurns(patch, options.deadline);
  if (!parsed.ok) return parsed;
  const overlaid = await overlayPatch(treeOf(workspace, options), parsed.value.sections, options.deadline);
  if (!overlaid.ok) return overlaid;
  const {changes, offsets, histories} = overlaid.value;
  const second = await secondOpinion(histories, options.crossCheck);
  if (!second.ok) return second;
  const checked = second.value;
  if (checked.outcome === 'differs') {
    const message = `GNU patch does not come to the same result: ${checked.reason}. Nothing was written. Rebuild the hunks with more context.`;
    return fail('patch_hunk_fail', message, {problems: [{hint: 'cross_check', message: checked.reason}]});
  }
  const diffs: FileDiff[] = [];
  for (const change of changes) {
    const late = overdue(options.deadline);
    if (late !== undefined) return late;
    await yieldAfter(change.kind === 'delete' ? change.old.content.length : change.new.content.length);
    diffs.push(renderFileChange(change));
  }
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
    crossCheck: checked.outcome,
  });
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
      return known.value === stateHash(state) ? 'as_read' : 'changed';
    },
    resolve: workspace.resolveForWrite,
    read: async path => {
      const file = await workspace.openFile(path);
      if (!file.ok) return file.error.code === 'file_not_found' ? ok(undefined) : file;
      const {links, mode, owner} = file.value.info;
      const bytes = await readWhole(file.value, {maxBytes: MAX_WHOLE_FILE_BYTES, deadline});
      if (!bytes.ok) return bytes;
      return links > 1 ? notAFile(path, 'hard_linked') : ok({content: byteString(bytes.value), mode, owner});
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
