// Finds a program that nobody but its owner could have put there.
import {constants, type Stats} from 'node:fs';
import {access, lstat, readlink, realpath, stat} from 'node:fs/promises';
import {delimiter, dirname, isAbsolute, join, parse, resolve, sep} from 'node:path';

/** Where the system keeps its programs. They come before whatever `PATH` names. */
export const STANDARD_DIRECTORIES: readonly string[] =
  process.platform === 'win32'
    ? []
    : ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

export interface ProgramPlaces {
  /** The variable `PATH`. Relative entries are skipped. */
  readonly path: string | undefined;
  /** Real paths of trees that other people's code may write to, such as the workspace. Nothing below them is run. */
  readonly untrustedTrees: readonly string[];
  /** Default: `STANDARD_DIRECTORIES`. */
  readonly standard?: readonly string[] | undefined;
}

/** The group of an ordinary user. Lower numbers belong to the system (`staff` on Debian). */
const FIRST_USER_GROUP = 1000;

/**
 * Absolute path of a program of the host, `undefined` where there is none that may be run. `PATH` often
 * begins with a directory of the project (npx, an activated virtual environment), so a program counts only
 * where it lies outside of `untrustedTrees`, by its name and by its real path, and where only root or the user of this
 * process can replace it.
 */
export async function findProgram(name: string, places: ProgramPlaces): Promise<string | undefined> {
  const {path, untrustedTrees, standard = STANDARD_DIRECTORIES} = places;
  const file = process.platform === 'win32' ? `${name}.exe` : name;
  for (const directory of [...standard, ...(path ?? '').split(delimiter)]) {
    if (!isAbsolute(directory)) continue;
    const candidate = join(directory, file);
    if (await isProgramToTrust(candidate, untrustedTrees)) return candidate;
  }
  return undefined;
}

/** Whether `path` is an executable file that may be run: see `findProgram`. */
export async function isProgramToTrust(path: string, untrustedTrees: readonly string[]): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    if (!(await stat(path)).isFile()) return false;
    for (const place of await placesOf(path)) {
      if (untrustedTrees.some(tree => isBelow(place, tree)) || !(await isOurs(place))) return false;
    }
    return true;
  } catch {
    // Not there, or not to be looked at: then it is not to be run either.
    return false;
  }
}

/** Real paths of all that decides what `path` is: the directory of each link on the way, and the file at its end. */
async function placesOf(path: string): Promise<readonly string[]> {
  const places: string[] = [];
  let at = path;
  while ((await lstat(at)).isSymbolicLink()) {
    const directory = await realpath(dirname(at));
    places.push(directory);
    at = resolve(directory, await readlink(at));
  }
  return [...places, await realpath(dirname(at)), await realpath(at)];
}

/** Whether `path` is `tree` or lies in it. Both are real paths. */
function isBelow(path: string, tree: string): boolean {
  return path === tree || path.startsWith(tree.endsWith(sep) ? tree : `${tree}${sep}`);
}

/** Whether nobody but root and this user can put something else at a real path. */
async function isOurs(path: string): Promise<boolean> {
  const user = process.geteuid?.();
  if (user === undefined) return true;
  const {root} = parse(path);
  for (let place = path; ; place = dirname(place)) {
    if (isWritableByOthers(await lstat(place), user)) return false;
    if (place === root) return true;
  }
}

function isWritableByOthers({uid, gid, mode}: Stats, user: number): boolean {
  if (uid !== 0 && uid !== user) return true;
  // In a directory with the sticky bit, such as /tmp, others cannot replace what is ours.
  if ((mode & constants.S_IFMT) === constants.S_IFDIR && (mode & 0o1000) !== 0) return false;
  if ((mode & 0o002) !== 0) return true;
  return user === 0 && (mode & 0o020) !== 0 && gid >= FIRST_USER_GROUP;
}
