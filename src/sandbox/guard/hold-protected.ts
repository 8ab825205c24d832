// Holds protected paths in place, and makes placeholders for those that are missing.
import {
  type BigIntStats,
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  rmdirSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import {relative, sep} from 'node:path';
import {dirname} from 'node:path/posix';
import {ok, type Result} from '../../core/result.ts';
import {errorCode, ifRefused} from '../../system/errors.ts';
import {sandboxFailure} from '../sandbox-failure.ts';
import {type HeldDirectory, holdDirectory} from './held-directory.ts';

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
  ifRefused(() => mkdirSync(directory.at(name), {mode: 0o755}), undefined, 'EEXIST');
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

/** One name that is kept, one level deep. */
export interface PlaceHolder {
  readonly name: string;
  /** What the file says; undefined for an empty directory. A file is known by it on later starts. */
  readonly content: string | undefined;
}

/** Makes it, as the owner of the directory. False where another process was faster. */
export function makePlaceHolder(directory: HeldDirectory, {name, content}: PlaceHolder): boolean {
  try {
    if (content !== undefined) writeNew(directory, name, content);
    else {
      mkdirSync(directory.at(name), {mode: 0o755});
      giveToOwner(directory, name);
    }
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
  return true;
}

/** Whether what is there is the file that we make. */
export function isPlaceHolder(directory: HeldDirectory, {name, content}: PlaceHolder): boolean {
  return content !== undefined && readEntry(directory, name, content.length + 1) === content;
}

/** Takes one name away, if it is still what we made. */
export function removePlaceHolder(directory: HeldDirectory, holder: PlaceHolder): void {
  // Somebody may have filled it, or taken it away.
  ifRefused(() => {
    if (holder.content === undefined) rmdirSync(directory.at(holder.name));
    else if (isPlaceHolder(directory, holder)) unlinkSync(directory.at(holder.name));
  });
}

/** The beginning of a regular file, no link followed and no FIFO waited for; undefined where there is none. */
export function readEntry(directory: HeldDirectory, name: string, maxBytes: number): string | undefined {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const descriptor = ifRefused(() => openSync(directory.at(name), flags));
  if (descriptor === undefined) return undefined;
  try {
    if (!fstatSync(descriptor).isFile()) return undefined;
    const bytes = Buffer.alloc(maxBytes);
    return bytes.toString('utf8', 0, readSync(descriptor, bytes, 0, maxBytes, 0));
  } finally {
    closeSync(descriptor);
  }
}

function writeNew(directory: HeldDirectory, name: string, content: string): void {
  const descriptor = openSync(directory.at(name), 'wx', 0o644);
  try {
    try {
      writeSync(descriptor, content);
      if (process.getuid?.() === 0) {
        fchownSync(descriptor, Number(directory.info.uid), Number(directory.info.gid));
      }
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    // Half of it would not be known again.
    unlinkSync(directory.at(name));
    throw error;
  }
}

/** A directory that root makes belongs to the owner of the one around it. */
export function giveToOwner(directory: HeldDirectory, name: string): void {
  if (process.getuid?.() !== 0) return;
  const made = holdDirectory(directory.at(name));
  if (made === undefined) return;
  // Not by O_PATH, which cannot be changed through; and not by name, which could be a link by now.
  const descriptor = openSync(made.at('.'), constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fchownSync(descriptor, Number(directory.info.uid), Number(directory.info.gid));
  } finally {
    closeSync(descriptor);
    made.close();
  }
}

/** A part of the workspace that is mounted onto itself, so that it can be neither replaced nor moved. */
export interface GuardedMount {
  /** Relative to the workspace; '' is the workspace itself. */
  readonly path: string;
  readonly writable: boolean;
  /** `device:inode`, as `stat -c '%d:%i'` prints it: what a sandbox must report. */
  readonly place: string;
  /** Differs also where it was moved away and back, which takes its mount out of every sandbox. */
  readonly version: string;
}

/** The workspace and what is mounted over it, outer parts first. The first one is the workspace. */
export type GuardedTree = readonly GuardedMount[];

export function guardedMount(path: string, info: BigIntStats, writable: boolean): GuardedMount {
  const {dev, ino, birthtimeNs, ctimeNs} = info;
  // The workspace is where a mount comes from, not what one lies on: what is made in it changes nothing.
  const version = path === '' ? `${birthtimeNs}` : `${birthtimeNs}:${ctimeNs}`;
  return {path, writable, place: `${dev}:${ino}`, version};
}
