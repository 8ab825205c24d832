// Remembers which lines of which files a session has seen.
import {ok, type Result} from '../core/result.ts';
import type {ContentHash} from './open-file.ts';
import {notRead} from './refusals.ts';
import type {WorkspacePath} from './workspace-path.ts';

interface Known {
  readonly hash: ContentHash;
  readonly seen: SeenLines;
}

/**
 * W6: what a session knows of files, as hashes of their content. One per session. Times are not
 * looked at: a file that was touched, or changed and changed back, is the one that was read.
 */
export class ReadTracker {
  readonly #known: Map<WorkspacePath, Known>;

  constructor(known: Iterable<readonly [WorkspacePath, Known]> = []) {
    this.#known = new Map(known);
  }

  /** After a read, of whatever range, and after a write of one's own. What was seen of one content adds up. */
  record(path: WorkspacePath, hash: ContentHash, seen: SeenLines = 'all'): void {
    const before = this.#known.get(path);
    this.#known.set(path, {hash, seen: before?.hash === hash ? joinSeen(before.seen, seen) : seen});
  }

  /** The lines of `hash` that were shown, or written, in this session. */
  seen(path: WorkspacePath, hash: ContentHash): SeenLines {
    const known = this.#known.get(path);
    return known?.hash === hash ? known.seen : [];
  }

  /** After a removal of one's own. */
  forget(path: WorkspacePath): void {
    this.#known.delete(path);
  }

  /** What is known now, whatever is learned later. */
  snapshot(): ReadTracker {
    return new ReadTracker(this.#known);
  }

  /** The content a change is based on; `not_read` where there is none. */
  baseVersion(path: WorkspacePath): Result<ContentHash> {
    const known = this.#known.get(path);
    return known === undefined ? notRead(path) : ok(known.hash);
  }
}

/** Lines from 1, both ends included. */
export type LineRange = readonly [number, number];

/** What of a file was shown: ranges that ascend and do not touch, or all of it. */
export type SeenLines = 'all' | readonly LineRange[];

/** A line becomes another, or a count of lines another count; indices from 0. */
interface Edit {
  readonly oldStart: number;
  readonly oldCount: number;
  readonly newStart: number;
  readonly newCount: number;
}

export function joinSeen(one: SeenLines, other: SeenLines): SeenLines {
  if (one === 'all' || other === 'all') return 'all';
  const joined: [number, number][] = [];
  for (const [first, last] of [...one, ...other].sort(([a], [b]) => a - b)) {
    const before = joined.at(-1);
    if (last < first) continue;
    if (before === undefined || first > before[1] + 1) joined.push([first, last]);
    else before[1] = Math.max(before[1], last);
  }
  return joined;
}

/** After a change of one's own: what was seen has moved, and what was written is known. */
export function seenAfter(seen: SeenLines, edits: readonly Edit[]): SeenLines {
  if (seen === 'all') return seen;
  const moved: LineRange[] = [];
  let from = 1;
  let shift = 0;
  let range = 0;
  for (const {oldStart, oldCount, newStart, newCount} of [...edits, END]) {
    // Both lists ascend: each range is left behind once, and so is each edit.
    for (; ; range += 1) {
      const [first, last] = seen[range] ?? NOTHING;
      if (first > oldStart) break;
      const start = Math.max(first, from);
      const end = Math.min(last, oldStart);
      if (start <= end) moved.push([start + shift, end + shift]);
      // It may go on behind the edit.
      if (last > oldStart) break;
    }
    if (newCount > 0) moved.push([newStart + 1, newStart + newCount]);
    from = oldStart + oldCount + 1;
    shift = newStart + newCount - (oldStart + oldCount);
  }
  return joinSeen(moved, []);
}

const END: Edit = {oldStart: Number.MAX_SAFE_INTEGER, oldCount: 0, newStart: 0, newCount: 0};
/** Behind the last range. */
const NOTHING: LineRange = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];

/** Lines that a change replaces or removes, and that were never shown. */
export function countUnseen(seen: SeenLines, edits: readonly Edit[]): number {
  if (seen === 'all') return 0;
  let unseen = 0;
  let range = 0;
  for (const {oldStart, oldCount} of edits) {
    unseen += oldCount;
    for (; ; range += 1) {
      const [first, last] = seen[range] ?? NOTHING;
      if (first > oldStart + oldCount) break;
      const start = Math.max(first, oldStart + 1);
      const end = Math.min(last, oldStart + oldCount);
      if (start <= end) unseen -= end - start + 1;
      if (last > oldStart + oldCount) break;
    }
  }
  return unseen;
}
