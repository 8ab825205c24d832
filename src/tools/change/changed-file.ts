import type {PreparedChange} from '../../workspace/edit/replace/prepare-write.ts';
import {byteString} from '../../workspace/patch/byte-string.ts';
import type {FileChange} from '../../workspace/patch/file-change.ts';

/** A change of one file in the words of patches, for its diff and its undo. */
export function changedFile({summary, before, after}: PreparedChange): FileChange {
  const {path} = summary;
  const {hash, content: bytes} = after;
  const content = byteString(bytes);
  if (before === undefined) return {kind: 'create', path, new: {content, mode: undefined, hash, bytes}};
  const {mode, owner} = before;
  const old = {
    content: byteString(before.content),
    mode,
    owner,
    hash: before.hash,
    bytes: before.content,
  };
  return {kind: 'modify', path, old, new: {content, mode, owner, hash, bytes}};
}
