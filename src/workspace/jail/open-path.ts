// Walks down a path handle by handle, from the root of a workspace.
import {lstatSync, mkdirSync} from 'node:fs';
import {fail, ok, type Result} from '../../core/result.ts';
import {errorCode, ifRefused} from '../../system/errors.ts';
import {entryKind} from '../open-file.ts';
import {fileNotFound, ioFailure, rootMoved, symlinkBlocked} from '../refusals.ts';
import {pathNames, quotePath, type WorkspacePath, type WritablePath} from '../workspace-path.ts';
import type {EntryHandle, EntryIdentity, HoldEntry} from './entry-handle.ts';

/** The root of a workspace, and how the entries below it are held. */
export interface RootHandle {
  readonly root: OpenRoot;
  readonly holdEntry: HoldEntry;
}

/** The directory that holds an entry, and the name of the entry in it. */
export interface ParentHandle {
  readonly directory: EntryHandle;
  readonly name: string;
  /** Directories that had to be made for it, outermost first. */
  readonly created: readonly WritablePath[];
}

/**
 * W1: walks down from the root, one name at a time, each below the handle of the one before. The
 * last entry may be of any kind, a link included: the caller looks at `stats`.
 */
export function openPath(rootHandle: RootHandle, path: WorkspacePath): Result<EntryHandle> {
  return descend(rootHandle, path, pathNames(path));
}

/** The same for the directory above something that is to change; `make` creates what is missing. */
export function openParent(rootHandle: RootHandle, path: WritablePath, make = false): Result<ParentHandle> {
  // Review R4: the handle would still lead to the root, but not where the operator looks for it.
  const there = rootHandle.root.verify();
  if (!there.ok) return there;
  const names = pathNames(path);
  const created: WritablePath[] = [];
  const found = descend(rootHandle, path, names.slice(0, -1), make ? created : undefined);
  if (!found.ok) return found;
  const directory = found.value;
  if (!directory.stats.isDirectory()) {
    directory.close();
    return refuseDirectory(path, names, names.length - 1, directory);
  }
  return ok({directory, name: names.at(-1) ?? '', created});
}

/** Pins one entry of a directory that is held already; undefined where there is none. */
export function openChild(
  rootHandle: RootHandle,
  directory: EntryHandle,
  name: string,
): EntryHandle | undefined {
  return ifRefused(() => rootHandle.holdEntry(`${directory.address}/${name}`), undefined, 'ENOENT');
}

function descend(
  rootHandle: RootHandle,
  path: WorkspacePath,
  names: readonly string[],
  created?: WritablePath[],
): Result<EntryHandle> {
  const entered = rootHandle.root.enter();
  if (!entered.ok) return entered;
  let here: EntryHandle | undefined = entered.value;
  let depth = 0;
  try {
    for (const name of names) {
      if (!here.stats.isDirectory()) return refuseDirectory(path, names, depth, here);
      let next = openChild(rootHandle, here, name);
      depth += 1;
      if (next === undefined && created !== undefined) {
        if (makeDirectory(`${here.address}/${name}`)) {
          created.push(names.slice(0, depth).join('/') as WritablePath);
        }
        next = openChild(rootHandle, here, name);
      }
      if (next === undefined) return fileNotFound(path);
      here.close();
      here = next;
    }
    const found = here;
    here = undefined;
    return ok(found);
  } catch (error) {
    return ioFailure(error, path, 'reach');
  } finally {
    here?.close();
  }
}

/** The first `depth` names lead to something that has no entries. */
function refuseDirectory(
  path: string,
  names: readonly string[],
  depth: number,
  found: EntryHandle,
): Result<never> {
  if (entryKind(found.stats) !== 'symlink') return fileNotFound(path);
  return symlinkBlocked(path, names.slice(0, depth).join('/'));
}

/** False where another process made it in the meantime. */
function makeDirectory(address: string): boolean {
  try {
    mkdirSync(address);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** The root of a workspace, held from the moment it was opened (review R4). */
interface OpenRoot {
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
    const now = ifRefused(() => lstatSync(this.path, {bigint: true}));
    return now?.dev === this.identity.dev && now.ino === this.identity.ino ? ok() : rootMoved(this.path);
  }

  close(): void {
    this.#closed = true;
    this.#held.close();
  }
}
