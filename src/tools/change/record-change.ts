import {yieldAfter} from '../../core/async/yield-after.ts';
import type {Json} from '../../core/json.ts';
import {ok, type Result} from '../../core/result.ts';
import type {ToolContext} from '../../core/tool.ts';
import {contentHash} from '../../workspace/content-hash.ts';
import {type Deadline, overdue} from '../../workspace/deadline.ts';
import type {FileChange, FileState} from '../../workspace/patch/file-change.ts';
import {stateBytes} from '../../workspace/patch/state-bytes.ts';
import {stateHash} from '../../workspace/patch/state-hash.ts';
import {inTurns} from '../../workspace/turns.ts';
import type {PlannedChange} from './planned-change.ts';
import {stepPath} from './step-path.ts';
import {oldContentPath, type UndoRecord} from './undo-record.ts';

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
  const {renderUndo} = await import('../../workspace/patch/diff/render-undo.ts');
  const record: UndoRecord = {version: 2, files: changes.flatMap(filesOf)};
  const recordText = `${JSON.stringify(record)}\n`;
  const olds = changes.flatMap(change => (change.kind === 'create' ? [] : [change.old]));
  const contents = new Map(olds.map(state => [oldContentPath(stateHash(state)), state]));
  const undo = await inTurns(renderUndo(changes), deadline);
  if (!undo.ok) return undo;
  const artifacts: [string, () => string | Uint8Array][] = [
    // A long text costs as much as a long content.
    [stepPath(context.step, 'patch'), () => (typeof patch === 'string' ? Buffer.from(patch) : patch)],
    [stepPath(context.step, 'undo.patch'), () => undo.value],
    ...[...contents].map(([path, state]): [string, () => Uint8Array] => [path, () => stateBytes(state)]),
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

function filesOf(change: FileChange): UndoRecord['files'] {
  const {path} = change;
  switch (change.kind) {
    case 'create':
      return [{path, before: null, after: recorded(change.new)}];
    case 'delete':
      return [{path, before: recorded(change.old), after: null}];
    case 'modify':
      return [{path, before: recorded(change.old), after: recorded(change.new)}];
    case 'rename':
      return [
        {path: change.from, before: recorded(change.old), after: null},
        {path, before: null, after: recorded(change.new)},
      ];
  }
}

function recorded(state: FileState): NonNullable<UndoRecord['files'][number]['before']> {
  const {mode = null, owner = null} = state;
  return {sha256: stateHash(state), mode, owner};
}
