import type {Turns} from '../../turns.ts';
import {bytesOf} from '../byte-string.ts';
import type {FileChange} from '../file-change.ts';
import {renderFileChanges} from './render-unified.ts';

/**
 * W7: the patch that takes changes back, from the real bytes. Bytes, not text: a file that is not UTF-8
 * survives only in this form. Applied with `planPatch`, it gives the old files byte for byte, with their
 * executable bit.
 */
export function* renderUndo(changes: readonly FileChange[]): Turns<Buffer> {
  const diffs = yield* renderFileChanges(changes.map(reversed));
  return bytesOf(diffs.map(({text}) => text).join(''));
}

function reversed(change: FileChange): FileChange {
  switch (change.kind) {
    case 'create':
      return {kind: 'delete', path: change.path, old: change.new};
    case 'delete':
      return {kind: 'create', path: change.path, new: change.old};
    case 'modify':
      return {kind: 'modify', path: change.path, old: change.new, new: change.old};
    case 'rename':
      return {kind: 'rename', path: change.from, from: change.path, old: change.new, new: change.old};
  }
}
