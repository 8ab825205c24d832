import {ok, type Result} from '../../core/result.ts';
import type {ContentHash} from '../content-hash.ts';
import {notRead} from '../refusals.ts';
import {joinSeen, type SeenLines} from '../seen-lines.ts';
import type {WorkspacePath} from '../workspace-path.ts';

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
