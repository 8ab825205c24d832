import type {FileWrite} from '../edit/held-workspace.ts';
import type {FileChange, FileState} from './file-change.ts';
import {stateBytes} from './state-bytes.ts';
import {stateHash} from './state-hash.ts';

/** A new file that nobody gave a mode. */
const DEFAULT_MODE = 0o644;

/** What changes are to the one who writes them: a rename is a new file and a removal. */
export function fileWrites(changes: readonly FileChange[]): FileWrite[] {
  return changes.flatMap(writesOf);
}

function writesOf(change: FileChange): FileWrite[] {
  switch (change.kind) {
    case 'create':
      // What undo brings back is whose it was.
      return [{path: change.path, old: undefined, new: {...fresh(change.new), owner: change.new.owner}}];
    case 'delete':
      return [{path: change.path, old: old(change.old), new: undefined}];
    case 'modify':
      return [{path: change.path, old: old(change.old), new: fresh(change.new)}];
    case 'rename':
      return [
        // review B7: it stays whose it was under its new name.
        {path: change.path, old: undefined, new: {...fresh(change.new), owner: change.old.owner}},
        {path: change.from, old: old(change.old), new: undefined},
      ];
  }
}

function old(state: FileState): NonNullable<FileWrite['old']> {
  const {mode = DEFAULT_MODE, owner} = state;
  return {bytes: stateBytes(state), hash: stateHash(state), mode, owner};
}

function fresh(state: FileState): NonNullable<FileWrite['new']> {
  return {bytes: stateBytes(state), hash: stateHash(state), mode: state.mode};
}
