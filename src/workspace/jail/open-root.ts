import {lstatSync} from 'node:fs';
import {fail} from '../../core/failure/fail.ts';
import {ok, type Result} from '../../core/result.ts';
import {errorCode} from '../../system/error-code.ts';
import {ioFailure} from '../io-failure.ts';
import {rootMoved} from '../refusals.ts';
import {quotePath} from '../workspace-path.ts';
import type {EntryHandle, EntryIdentity, HoldEntry} from './entry-handle.ts';

/** The root of a workspace, held from the moment it was opened (review R4). */
export interface OpenRoot {
  /** The real path that it had then. For messages and locks; no walk begins at it. */
  readonly path: string;
  readonly identity: EntryIdentity;
  /** A hold of its own on the root, for one walk. */
  readonly enter: () => Result<EntryHandle>;
  /** Whether the path still leads to it. What changes the tree or runs in it by name asks first. */
  readonly verify: () => Result<undefined>;
  readonly close: () => void;
}

/** Pins the directory at a real path. Throws what the system throws. */
export function openRoot(path: string, holdEntry: HoldEntry): OpenRoot {
  const held = holdEntry(path);
  try {
    // Fails where the directory may not be searched, or /proc is not mounted.
    holdEntry(`${held.address}/.`).close();
    return new HeldRoot(path, held, holdEntry);
  } catch (error) {
    held.close();
    throw error;
  }
}

class HeldRoot implements OpenRoot {
  readonly path: string;
  readonly identity: EntryIdentity;
  readonly #held: EntryHandle;
  readonly #holdEntry: HoldEntry;
  #closed = false;

  constructor(path: string, held: EntryHandle, holdEntry: HoldEntry) {
    this.path = path;
    this.identity = held.identify();
    this.#held = held;
    this.#holdEntry = holdEntry;
  }

  enter(): Result<EntryHandle> {
    // The number of the descriptor may be another process's by now.
    if (this.#closed) {
      return fail('io_error', `The workspace ${quotePath(this.path)} is closed. Open a new session.`, {
        path: this.path,
        error: 'closed',
        operation: 'reach',
      });
    }
    try {
      if (this.#held.address !== this.path) return ok(this.#holdEntry(`${this.#held.address}/.`));
      // Only the name can be held: what it leads to is compared each time.
      const moved = this.verify();
      return moved.ok ? ok(this.#holdEntry(this.path)) : moved;
    } catch (error) {
      return ioFailure(error, this.path, 'reach');
    }
  }

  verify(): Result<undefined> {
    try {
      const {dev, ino} = lstatSync(this.path, {bigint: true});
      return dev === this.identity.dev && ino === this.identity.ino ? ok() : rootMoved(this.path);
    } catch (error) {
      if (errorCode(error) === undefined) throw error;
      return rootMoved(this.path);
    }
  }

  close(): void {
    this.#closed = true;
    this.#held.close();
  }
}
