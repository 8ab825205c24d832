import {yieldAfter} from '../../core/async/yield-after.ts';
import {ok, type Result} from '../../core/result.ts';
import type {Deadline} from '../../workspace/deadline.ts';
import type {PreparedChange} from '../../workspace/edit/replace/prepare-write.ts';
import type {ByteString} from '../../workspace/patch/byte-string.ts';
import {byteString} from '../../workspace/patch/byte-string.ts';
import type {FileChange} from '../../workspace/patch/file-change.ts';
import {inTurns} from '../../workspace/turns.ts';

interface PlannedFile {
  readonly change: FileChange;
  readonly changes: readonly FileChange[];
  readonly diff: ByteString;
  /** Lines in the diff. */
  readonly added: number;
  readonly removed: number;
}

/** A change of one file in the words of patches, with its diff. */
export async function planFileChange(
  prepared: PreparedChange,
  deadline?: Deadline,
): Promise<Result<PlannedFile>> {
  const change = await changedFile(prepared);
  const {renderFileChange} = await import('../../workspace/patch/diff/render-unified.ts');
  const diff = await inTurns(renderFileChange(change), deadline);
  if (!diff.ok) return diff;
  const {text, added, removed} = diff.value;
  return ok({change, changes: [change], diff: text, added, removed});
}

async function changedFile({summary, before, after}: PreparedChange): Promise<FileChange> {
  const {path} = summary;
  const {hash, content: bytes} = after;
  const content = byteString(bytes);
  await yieldAfter(bytes.length);
  if (before === undefined) return {kind: 'create', path, new: {content, mode: undefined, hash, bytes}};
  const {mode, owner} = before;
  const old = {
    content: byteString(before.content),
    mode,
    owner,
    hash: before.hash,
    bytes: before.content,
  };
  await yieldAfter(old.bytes.length);
  return {kind: 'modify', path, old, new: {content, mode, owner, hash, bytes}};
}
