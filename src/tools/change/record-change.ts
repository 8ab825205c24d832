// Records a change before it is made, so that undo can take it back.

import {z} from 'zod';
import {yieldAfter} from '../../core/async.ts';
import type {Deadline} from '../../core/deadline.ts';
import {type Json, ok, type Result} from '../../core/result.ts';
import type {ToolContext} from '../../core/tool.ts';
import type {FileChange, FileState} from '../../workspace/change/file-change.ts';
import {contentHash, inTurns, overdue} from '../../workspace/open-file.ts';

/**
 * Tool API: keeps a record of a change before it is made: `diffs/step_NNNN.patch`, a patch for people that
 * reverses it, and what undo works with: the old bytes, and the files with their hashes and modes. The value
 * is the payload of `PATCH_APPLIED`.
 */
export async function recordChange(
  context: ToolContext,
  {patch, changes, changedFiles}: PlannedChange,
  deadline: Deadline,
): Promise<Result<{readonly [field: string]: Json}>> {
  const {renderUndo} = await import('../../workspace/patch/unified.ts');
  // A name that is gone stands before the new one.
  const files = changes.flatMap(({path, from, old = null, new: fresh = null}): RecordedFile[] => {
    const [before, after] = [old && recorded(old), fresh && recorded(fresh)];
    if (from === undefined) return [{path, before, after}];
    return [
      {path: from, before, after: null},
      {path, before: null, after},
    ];
  });
  const record: UndoRecord = {version: 2, files};
  const recordText = `${JSON.stringify(record)}\n`;
  const olds = changes.flatMap(({old}) => old ?? []);
  const contents = new Map(olds.map(({hash, bytes}) => [oldContentPath(hash), bytes]));
  const undo = await inTurns(renderUndo(changes), deadline);
  if (!undo.ok) return undo;
  const artifacts: [string, () => string | Uint8Array][] = [
    // A long text costs as much as a long content.
    [stepPath(context.step, 'patch'), () => (typeof patch === 'string' ? Buffer.from(patch) : patch)],
    [stepPath(context.step, 'undo.patch'), () => undo.value],
    ...[...contents].map(([path, bytes]): [string, () => Uint8Array] => [path, () => bytes]),
    [stepPath(context.step, 'undo.json'), () => recordText],
  ];
  for (const [path, content] of artifacts) {
    const late = overdue(deadline);
    if (late !== undefined) return late;
    const bytes = content();
    await yieldAfter(bytes.length);
    const saved = await context.saveArtifact(path, bytes);
    if (!saved.ok) return saved;
  }
  return ok({
    patch_size_bytes: Buffer.byteLength(patch),
    patch_path: stepPath(context.step, 'patch'),
    undo_path: stepPath(context.step, 'undo.patch'),
    undo_record: stepPath(context.step, 'undo.json'),
    // review R18: whoever undoes the step compares the record with this.
    undo_record_sha256: contentHash(Buffer.from(recordText)),
    // Last: a payload that is too long for the log loses its end.
    changed_files: changedFiles,
  });
}

function recorded({hash, mode, owner}: FileState): NonNullable<RecordedFile['before']> {
  return {sha256: hash, mode: mode ?? null, owner: owner ?? null};
}

/** W7: where the run directory keeps what a step did: `diffs/step_0007.undo.patch`. */
export function stepPath(step: number, extension: 'patch' | 'undo.patch' | 'undo.json'): string {
  return `diffs/step_${String(step).padStart(4, '0')}.${extension}`;
}

const hash = z.string().regex(/^[0-9a-f]{64}$/);

/** One state of a file; `null` where there was none. */
const state = z
  .object({
    sha256: hash,
    /** Permission bits; `null` for a new file, which got what the umask left. */
    mode: z.int().min(0).max(0o777).nullable(),
    owner: z.object({uid: z.int().min(0), gid: z.int().min(0)}).nullable(),
  })
  .nullable();

/** `diffs/step_NNNN.undo.json`: the files of a step as they were before and after it. */
export const undoRecord = z.object({
  version: z.literal(2),
  files: z.array(z.object({path: z.string(), before: state, after: state})),
});

export type UndoRecord = z.infer<typeof undoRecord>;
export type RecordedFile = UndoRecord['files'][number];

/** Where the run directory keeps a content that a step replaced or removed, under its own hash. */
export function oldContentPath(sha256: string): string {
  return `old/${sha256}`;
}

/** What a tool worked out, in the words that all of them share. */
export interface PlannedChange {
  readonly changes: readonly FileChange[];
  /** W7: as submitted, or our own diff where the tool takes none. */
  readonly patch: string | Uint8Array;
  readonly changedFiles: readonly string[];
  /**
   * What the session knows of the files afterwards: `read`, as it wrote them whole; `unread`, so that it has to read
   * them again; by default, as much as before.
   */
  readonly afterwards?: 'read' | 'unread' | undefined;
  /** More for the event of the change. */
  readonly event?: {readonly [field: string]: Json} | undefined;
}
