import {byteString} from '../workspace/patch/byte-string.ts';
import type {FileChange} from '../workspace/patch/file-change.ts';
import type {PreparedChange} from '../workspace/write-atomic.ts';

/** A change of one file in the words of patches, for its diff and its undo. */
export function changedFile({summary, before, after}: PreparedChange): FileChange {
  const {path} = summary;
  const content = byteString(after.content);
  if (before === undefined) return {kind: 'create', path, new: {content, mode: undefined}};
  const {mode} = before;
  return {kind: 'modify', path, old: {content: byteString(before.content), mode}, new: {content, mode}};
}
