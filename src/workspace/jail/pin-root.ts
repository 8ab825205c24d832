import {lstatSync} from 'node:fs';
import {fail} from '../../core/failure/fail.ts';
import {ok, type Result} from '../../core/result.ts';
import {errorCode} from '../../system/error-code.ts';
import {ioFailure} from '../io-failure.ts';
import {rootMoved} from '../refusals.ts';
import {quotePath} from '../workspace-path.ts';
import type {EntryIdentity, Pin, PinEntry} from './pin-entry.ts';

/** The root of a workspace, held from the moment it was opened (review R4). */
export interface PinnedRoot {
  /** The real path that it had then. For messages and locks; no walk begins at it. */
  readonly path: string;
  readonly identity: EntryIdentity;
  /** A hold of its own on the root, for one walk. */
  readonly enter: () => Result<Pin>;
  /** Whether the path still leads to it. What changes the tree or runs in it by name asks first. */
  readonly verify: () => Result<undefined>;
  readonly close: () => void;
}

/** Pins the directory at a real path. Throws what the system throws. */
export function pinRoot(path: string, pinEntry: PinEntry): PinnedRoot {
  const held = pinEntry(path);
  try {
    // Fails where the directory may not be searched, or /proc is not mounted.
    pinEntry(`${held.address}/.`).close();
    return new HeldRoot(path, held, pinEntry);
  } catch (error) {
    held.close();
    throw error;
  }
}

class HeldRoot implements PinnedRoot {
  readonly path: string;
  readonly identity: EntryIdentity;
  readonly #held: Pin;
  readonly #pinEntry: PinEntry;
  #closed = false;

  constructor(path: string, held: Pin, pinEntry: PinEntry) {
    this.path = path;
    this.identity = held.identify();
    this.#held = held;
    this.#pinEntry = pinEntry;
  }

  enter(): Result<Pin> {
    // The number of the descriptor may be somebody else's by now.
    if (this.#closed) {
      return fail('io_error', `The workspace ${quotePath(this.path)} is closed. Open a new session.`, {
        path: this.path,
        error: 'closed',
        operation: 'reach',
      });
    }
    try {
      if (this.#held.address !== this.path) return ok(this.#pinEntry(`${this.#held.address}/.`));
      // Only the name can be held: what it leads to is compared each time.
      const moved = this.verify();
      return moved.ok ? ok(this.#pinEntry(this.path)) : moved;
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
