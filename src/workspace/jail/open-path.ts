import {mkdirSync} from 'node:fs';
import {ok, type Result} from '../../core/result.ts';
import {errorCode} from '../../system/error-code.ts';
import {entryKind} from '../entry-info.ts';
import {ioFailure} from '../io-failure.ts';
import {fileNotFound, symlinkBlocked} from '../refusals.ts';
import {pathNames, type WorkspacePath, type WritablePath} from '../workspace-path.ts';
import type {EntryHandle, HoldEntry} from './entry-handle.ts';
import type {OpenRoot} from './open-root.ts';

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
  try {
    return rootHandle.holdEntry(`${directory.address}/${name}`);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
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
