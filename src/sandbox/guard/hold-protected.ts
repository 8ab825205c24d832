import {mkdirSync} from 'node:fs';
import {relative, sep} from 'node:path';
import {dirname} from 'node:path/posix';
import {ok, type Result} from '../../core/result.ts';
import {errorCode} from '../../system/error-code.ts';
import {sandboxFailure} from '../sandbox-failure.ts';
import {type GuardedMount, guardedMount} from './guarded-tree.ts';
import {type HeldDirectory, holdDirectory} from './held-directory.ts';
import {giveToOwner} from './place-holder.ts';

/**
 * review R8, R9: what a command may not change although it lies in the workspace, whether or not it exists. A
 * directory above it is a mount as well, so that it cannot be moved away; of a path that does not exist, the
 * innermost directory is for reading, and is made where it is missing.
 */
export function holdProtected(
  root: HeldDirectory,
  workspace: string,
  protectedPaths: readonly string[],
  already: readonly GuardedMount[],
): Result<readonly GuardedMount[]> {
  const mounts = new Map(already.map(mount => [mount.path, mount]));
  // Shorter ones first: below what is for reading as a whole there is nothing to hold.
  for (const path of protectedPaths.toSorted((a, b) => a.length - b.length)) {
    const names = namesInside(workspace, path);
    if (names === 'outside') continue;
    const held = names === 'around' ? around(path, workspace) : holdPath(root, names, path, mounts);
    if (!held.ok) return held;
  }
  return ok([...mounts.values()].sort((a, b) => (a.path < b.path ? -1 : 1)));
}

function namesInside(workspace: string, path: string): readonly string[] | 'outside' | 'around' {
  const inside = relative(workspace, path);
  if (inside === '' || inside.split(sep).every(name => name === '..')) return 'around';
  return inside.startsWith(`..${sep}`) ? 'outside' : inside.split(sep);
}

function holdPath(
  root: HeldDirectory,
  names: readonly string[],
  path: string,
  mounts: Map<string, GuardedMount>,
): Result<undefined> {
  let directory = root;
  try {
    for (const [at, name] of names.entries()) {
      const part = names.slice(0, at + 1).join('/');
      if (mounts.get(dirname(part))?.writable === false) return ok(undefined);
      const isLast = at === names.length - 1;
      const info = directory.look(name) ?? (isLast ? undefined : makeDirectory(directory, name));
      if (info === undefined) return closeParent(dirname(part), path, mounts);
      if (info.isSymbolicLink()) return leadsElsewhere(path, part);
      const isKnownClosed = mounts.get(part)?.writable === false;
      if (!isKnownClosed) mounts.set(part, guardedMount(part, info, !isLast));
      if (isLast) return ok(undefined);
      const next = holdDirectory(directory.at(name));
      if (next === undefined) return leadsElsewhere(path, part);
      if (directory !== root) directory.close();
      directory = next;
    }
    return ok(undefined);
  } finally {
    if (directory !== root) directory.close();
  }
}

function makeDirectory(directory: HeldDirectory, name: string) {
  try {
    mkdirSync(directory.at(name), {mode: 0o755});
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
  giveToOwner(directory, name);
  return directory.look(name);
}

/** The file itself is not made: an empty stand-in would be a configuration that says nothing. */
function closeParent(parent: string, path: string, mounts: Map<string, GuardedMount>): Result<undefined> {
  const mount = mounts.get(parent);
  if (mount !== undefined) {
    mounts.set(parent, {...mount, writable: false});
    return ok(undefined);
  }
  return sandboxFailure({
    problem: `The protected path ${JSON.stringify(path)} is missing, and commands must be able to write to the directory it would lie in`,
    remedy: 'create it, or choose a place outside of the workspace or in a directory below it.',
  });
}

function around(path: string, workspace: string): Result<never> {
  return sandboxFailure({
    problem: `The protected path ${JSON.stringify(path)} is the workspace ${JSON.stringify(workspace)} or contains it, so commands could write nothing or rewrite what runs them`,
    remedy: 'install the package and its settings outside of the workspace, or work in a copy of the tree.',
  });
}

function leadsElsewhere(path: string, part: string): Result<never> {
  return sandboxFailure({
    problem: `The protected path ${JSON.stringify(path)} leads through ${JSON.stringify(part)}, which is a symbolic link or no directory`,
    remedy: 'create it as a regular file, or move it out of the workspace.',
  });
}
