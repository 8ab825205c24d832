import {mkdirSync} from 'node:fs';
import {ok, type Result} from '../../core/result.ts';
import {errorCode} from '../../system/error-code.ts';
import {entryKind} from '../entry-info.ts';
import {ioFailure} from '../io-failure.ts';
import {fileNotFound, symlinkBlocked} from '../refusals.ts';
import {pathNames, type WorkspacePath, type WritablePath} from '../workspace-path.ts';
import type {Pin, PinEntry} from './pin-entry.ts';
import type {PinnedRoot} from './pin-root.ts';

/** The root of a workspace, and how the entries below it are held. */
export interface Ground {
  readonly root: PinnedRoot;
  readonly pinEntry: PinEntry;
}

/** The directory that holds an entry, and the name of the entry in it. */
export interface PinnedParent {
  readonly directory: Pin;
  readonly name: string;
  /** Directories that had to be made for it, outermost first. */
  readonly created: readonly WritablePath[];
}

/**
 * W1: walks down from the root, one name at a time, each below the handle of the one before. The
 * last entry may be of any kind, a link included: the caller looks at `stats`.
 */
export function pinPath(ground: Ground, path: WorkspacePath): Result<Pin> {
  return descend(ground, path, pathNames(path));
}

/** The same for the directory above something that is to change; `make` creates what is missing. */
export function pinParent(ground: Ground, path: WritablePath, make = false): Result<PinnedParent> {
  // Review R4: the handle would still lead to the root, but not where the operator looks for it.
  const there = ground.root.verify();
  if (!there.ok) return there;
  const names = pathNames(path);
  const created: WritablePath[] = [];
  const found = descend(ground, path, names.slice(0, -1), make ? created : undefined);
  if (!found.ok) return found;
  const directory = found.value;
  if (!directory.stats.isDirectory()) {
    directory.close();
    return refuseDirectory(path, names, names.length - 1, directory);
  }
  return ok({directory, name: names.at(-1) ?? '', created});
}

/** Pins one entry of a directory that is held already; undefined where there is none. */
export function pinChild(ground: Ground, directory: Pin, name: string): Pin | undefined {
  try {
    return ground.pinEntry(`${directory.address}/${name}`);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function descend(
  ground: Ground,
  path: WorkspacePath,
  names: readonly string[],
  created?: WritablePath[],
): Result<Pin> {
  const entered = ground.root.enter();
  if (!entered.ok) return entered;
  let here: Pin | undefined = entered.value;
  let depth = 0;
  try {
    for (const name of names) {
      if (!here.stats.isDirectory()) return refuseDirectory(path, names, depth, here);
      let next = pinChild(ground, here, name);
      depth += 1;
      if (next === undefined && created !== undefined) {
        if (makeDirectory(`${here.address}/${name}`)) {
          created.push(names.slice(0, depth).join('/') as WritablePath);
        }
        next = pinChild(ground, here, name);
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
function refuseDirectory(path: string, names: readonly string[], depth: number, found: Pin): Result<never> {
  if (entryKind(found.stats) !== 'symlink') return fileNotFound(path);
  return symlinkBlocked(path, names.slice(0, depth).join('/'));
}

/** False where somebody else made it in the meantime. */
function makeDirectory(address: string): boolean {
  try {
    mkdirSync(address);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}
