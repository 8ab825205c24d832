import type {FileChange} from '../../workspace/patch/file-change.ts';
import {lineEdits} from '../../workspace/patch/line-edits.ts';
import {stateHash} from '../../workspace/patch/state-hash.ts';
import type {ReadTracker} from '../../workspace/read/read-tracker.ts';
import {seenAfter} from '../../workspace/seen-lines.ts';

/**
 * W6: a change of one's own does not close the lock of a file that was known, and does not open that of one
 * that was not. Of a new file, all is known.
 */
export function refreshTracker(tracker: ReadTracker, changes: readonly FileChange[]): void {
  for (const change of changes) {
    switch (change.kind) {
      case 'create':
        tracker.record(change.path, stateHash(change.new));
        break;
      case 'modify':
        carry(tracker, change.path, change);
        break;
      case 'rename':
        carry(tracker, change.from, change);
        tracker.forget(change.from);
        break;
      case 'delete':
        tracker.forget(change.path);
        break;
    }
  }
}

/** What was known of the old content is known of the new one, line by line. */
function carry(
  tracker: ReadTracker,
  from: FileChange['path'],
  {path, old, new: fresh}: FileChange & {readonly kind: 'modify' | 'rename'},
): void {
  const known = tracker.baseVersion(from);
  const hash = stateHash(old);
  if (!known.ok || known.value !== hash) return;
  const seen = tracker.seen(from, hash);
  const edits = seen === 'all' ? [] : lineEdits(old.content, fresh.content);
  tracker.record(path, stateHash(fresh), seenAfter(seen, edits));
}
