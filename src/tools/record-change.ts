import type {Result} from '../core/result.ts';
import type {ToolContext} from '../core/tool.ts';
import {contentHash} from '../workspace/content-hash.ts';
import {bytesOf} from '../workspace/patch/byte-string.ts';
import type {FileChange, FileState} from '../workspace/patch/file-change.ts';
import {stepPath} from './step-path.ts';
import type {UndoRecord} from './undo-record.ts';

export interface ChangeToRecord {
  /** W7: as submitted, or our own diff where the tool takes none. */
  readonly patch: string | Uint8Array;
  readonly changes: readonly FileChange[];
  readonly changedFiles: readonly string[];
}

/**
 * Tool API: makes a change and keeps a record of it: `diffs/step_NNNN.patch`, what undoes it, and the event
 * `PATCH_APPLIED`. The record is written first: no change is without its undo. A change that fails then
 * leaves a record that undo refuses, as the files are not what it says.
 */
export async function recordChange<Value>(
  context: ToolContext,
  {patch, changes, changedFiles}: ChangeToRecord,
  commit: () => Promise<Result<Value>>,
): Promise<Result<Value>> {
  const {renderUndo} = await import('../workspace/patch/render-undo.ts');
  const record: UndoRecord = {version: 1, files: changes.flatMap(filesOf)};
  const artifacts = [
    [stepPath(context.step, 'patch'), patch],
    [stepPath(context.step, 'undo.patch'), renderUndo(changes)],
    [stepPath(context.step, 'undo.json'), `${JSON.stringify(record)}\n`],
  ] as const;
  for (const [path, content] of artifacts) {
    const saved = await context.saveArtifact(path, content);
    if (!saved.ok) return saved;
  }
  const done = await commit();
  if (!done.ok) return done;
  await context.emit('PATCH_APPLIED', {
    changed_files: changedFiles,
    patch_size_bytes: Buffer.byteLength(patch),
    patch_path: stepPath(context.step, 'patch'),
    undo_path: stepPath(context.step, 'undo.patch'),
  });
  return done;
}

function filesOf(change: FileChange): UndoRecord['files'] {
  const {path} = change;
  switch (change.kind) {
    case 'create':
      return [{path, before: null, after: hashOf(change.new)}];
    case 'delete':
      return [{path, before: hashOf(change.old), after: null}];
    case 'modify':
      return [{path, before: hashOf(change.old), after: hashOf(change.new)}];
    case 'rename':
      return [
        {path: change.from, before: hashOf(change.old), after: null},
        {path, before: null, after: hashOf(change.new)},
      ];
  }
}

function hashOf({content}: FileState): string {
  return contentHash(bytesOf(content));
}
