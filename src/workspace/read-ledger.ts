import {ok, type Result} from '../core/result.ts';
import type {ContentHash} from './content-hash.ts';
import {notRead} from './refusals.ts';
import type {WorkspacePath} from './workspace-path.ts';

/**
 * W6: what a session knows of files, as hashes of their content. One per session. Times are not
 * looked at: a file that was touched, or changed and changed back, is the one that was read.
 */
export class ReadLedger {
  readonly #known: Map<WorkspacePath, ContentHash>;

  constructor(known: Iterable<readonly [WorkspacePath, ContentHash]> = []) {
    this.#known = new Map(known);
  }

  /** After a read, of whatever range, and after a write of one's own. */
  record(path: WorkspacePath, hash: ContentHash): void {
    this.#known.set(path, hash);
  }

  /** After a removal of one's own. */
  forget(path: WorkspacePath): void {
    this.#known.delete(path);
  }

  /** What is known now, whatever is learned later. */
  snapshot(): ReadLedger {
    return new ReadLedger(this.#known);
  }

  /** The content a change is based on; `not_read` where there is none. */
  basis(path: WorkspacePath): Result<ContentHash> {
    const hash = this.#known.get(path);
    return hash === undefined ? notRead(path) : ok(hash);
  }
}
