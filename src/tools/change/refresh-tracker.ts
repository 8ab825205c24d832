import {ok, type Result} from '../../core/result.ts';
import type {Deadline} from '../../workspace/deadline.ts';
import type {LineEdit} from '../../workspace/patch/diff/line-edit.ts';
import type {FileChange} from '../../workspace/patch/file-change.ts';
import {lineEdits} from '../../workspace/patch/line-edits.ts';
import {stateHash} from '../../workspace/patch/state-hash.ts';
import type {ReadTracker} from '../../workspace/read/read-tracker.ts';
import {seenAfter} from '../../workspace/seen-lines.ts';
import {inTurns} from '../../workspace/turns.ts';

/** By change: which lines became which. Only of files of which the session saw a part. */
export type LineMoves = ReadonlyMap<FileChange, readonly LineEdit[]>;

/** The long part of what a session learns from its own change; to be worked out before the change is made. */
export async function lineMoves(
  tracker: ReadTracker,
  changes: readonly FileChange[],
  deadline: Deadline,
): Promise<Result<LineMoves>> {
  const moves = new Map<FileChange, readonly LineEdit[]>();
  for (const change of changes) {
    if (change.kind !== 'modify' && change.kind !== 'rename') continue;
    const from = change.kind === 'rename' ? change.from : change.path;
    const known = tracker.baseVersion(from);
    const hash = stateHash(change.old);
    if (!known.ok || known.value !== hash || tracker.seen(from, hash) === 'all') continue;
    const edits = await inTurns(lineEdits(change.old.content, change.new.content), deadline);
    if (!edits.ok) return edits;
    moves.set(change, edits.value);
  }
  return ok(moves);
}

/**
 * W6: a change of one's own does not close the lock of a file that was known, and does not open that of one
 * that was not. Of a new file, all is known.
 */
export function refreshTracker(tracker: ReadTracker, changes: readonly FileChange[], moves: LineMoves): void {
  for (const change of changes) {
    switch (change.kind) {
      case 'create':
        tracker.record(change.path, stateHash(change.new));
        break;
      case 'modify':
        carry(change.path, change);
        break;
      case 'rename':
        carry(change.from, change);
        tracker.forget(change.from);
        break;
      case 'delete':
        tracker.forget(change.path);
        break;
    }
  }

  /** What was known of the old content is known of the new one, line by line. */
  function carry(from: FileChange['path'], change: FileChange & {readonly kind: 'modify' | 'rename'}): void {
    const known = tracker.baseVersion(from);
    const hash = stateHash(change.old);
    if (!known.ok || known.value !== hash) return;
    const seen = seenAfter(tracker.seen(from, hash), moves.get(change) ?? []);
    tracker.record(change.path, stateHash(change.new), seen);
  }
}
