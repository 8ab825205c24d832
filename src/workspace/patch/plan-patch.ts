import {yieldAfter} from '../../core/async/yield-after.ts';
import {fail} from '../../core/failure/fail.ts';
import {ok, type Result} from '../../core/result.ts';
import {hashInTurns} from '../content-hash.ts';
import type {Deadline} from '../deadline.ts';
import {attempt} from '../io-failure.ts';
import type {Workspace} from '../jail/jail.ts';
import {MAX_WHOLE_FILE_BYTES} from '../max-whole-file-bytes.ts';
import {readWhole} from '../open-file.ts';
import type {ReadTracker} from '../read/read-tracker.ts';
import {notAFile} from '../refusals.ts';
import {inTurns} from '../turns.ts';
import {bytewise} from '../walk/bytewise.ts';
import type {WritablePath} from '../workspace-path.ts';
import {type CrossCheck, type CrossCheckOptions, crossCheck} from './apply/cross-check.ts';
import type {FileHistory} from './apply/file-history.ts';
import {type AppliedOffset, overlayPatch, type PatchTree} from './apply/overlay.ts';
import {byteString, bytesOf, readable} from './byte-string.ts';
import {type DiffStat, diffStat} from './diff/diff-stat.ts';
import {renderFileChanges} from './diff/render-unified.ts';
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
  const {offsets, histories} = overlaid.value;
  const changes: FileChange[] = [];
  for (const change of overlaid.value.changes) {
    const settled = await settle(change, options.deadline);
    if (!settled.ok) return settled;
    changes.push(settled.value);
  }
  const second = await secondOpinion(histories, options.crossCheck);
  if (!second.ok) return second;
  const checked = second.value;
  if (checked.outcome === 'differs') {
    const message = `GNU patch does not come to the same result: ${checked.reason}. Nothing was written. Rebuild the hunks with more context.`;
    return fail('patch_hunk_fail', message, {problems: [{hint: 'cross_check', message: checked.reason}]});
  }
  const diffs = await inTurns(renderFileChanges(changes), options.deadline);
  if (!diffs.ok) return diffs;
  const paths = changes.flatMap(change =>
    change.kind === 'rename' ? [change.from, change.path] : [change.path],
  );
  return ok({
    changes,
    changedFiles: paths.sort(bytewise),
    patchSizeBytes: parsed.value.sizeBytes,
    offsets,
    recounted: parsed.value.recounted,
    diff: readable(diffs.value.map(diff => diff.text).join('')),
    stat: diffStat(diffs.value),
    crossCheck: checked.outcome,
  });
}

/** With the new content as bytes and their hash, which whoever makes the change needs. */
async function settle(change: FileChange, deadline: Deadline | undefined): Promise<Result<FileChange>> {
  if (change.kind === 'delete' || change.new.hash !== undefined) return ok(change);
  const bytes = bytesOf(change.new.content);
  await yieldAfter(bytes.length);
  const hash = await inTurns(hashInTurns(bytes), deadline);
  return hash.ok ? ok({...change, new: {...change.new, bytes, hash: hash.value}}) : hash;
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
      if (links > 1) return notAFile(path, 'hard_linked');
      const hash = await inTurns(hashInTurns(bytes.value), deadline);
      if (!hash.ok) return hash;
      return ok({content: byteString(bytes.value), mode, owner, bytes: bytes.value, hash: hash.value});
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
