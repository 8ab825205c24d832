import type {FileChange, FileState} from '../workspace/patch/file-change.ts';
import {stateHash} from '../workspace/patch/state-hash.ts';
import type {ReadLedger} from '../workspace/read-ledger.ts';

/**
 * W6: a change of one's own does not close the lock of a file that was known, and does not open that of one
 * that was not. Of a new file, all is known.
 */
export function refreshLedger(ledger: ReadLedger, changes: readonly FileChange[]): void {
  for (const change of changes) {
    switch (change.kind) {
      case 'create':
        ledger.record(change.path, stateHash(change.new));
        break;
      case 'modify':
        if (isKnown(ledger, change.path, change.old)) ledger.record(change.path, stateHash(change.new));
        break;
      case 'rename':
        if (isKnown(ledger, change.from, change.old)) ledger.record(change.path, stateHash(change.new));
        ledger.forget(change.from);
        break;
      case 'delete':
        ledger.forget(change.path);
        break;
    }
  }
}

function isKnown(ledger: ReadLedger, path: FileChange['path'], state: FileState): boolean {
  const known = ledger.basis(path);
  return known.ok && known.value === stateHash(state);
}
