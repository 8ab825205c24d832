import type {FileChange} from '../../workspace/patch/file-change.ts';
import {stateHash} from '../../workspace/patch/state-hash.ts';

/** What an approval of changes is bound to: the files as they are before. */
export function hashesBefore(changes: readonly FileChange[]): {readonly [path: string]: string} {
  return Object.fromEntries(changes.flatMap(hashesOf));
}

function hashesOf(change: FileChange): [string, string][] {
  if (change.kind === 'create') return [[change.path, 'absent']];
  const old = stateHash(change.old);
  if (change.kind !== 'rename') return [[change.path, old]];
  return [
    [change.from, old],
    [change.path, 'absent'],
  ];
}
