// Paths of a workspace: what may be read, and what may be written.
import {isAbsolute, relative, resolve, sep} from 'node:path';
import {type Brand, fail, ok, type Result} from '../core/result.ts';
import {takeStart} from '../core/text/cut.ts';
import {showInvisible} from '../core/text/invisible.ts';
import {WORKSPACE_MOUNT} from '../core/tool.ts';

/**
 * A path below the root of the workspace: relative, `/` between names, no `.`, `..` or empty name
 * in it; the root itself is `.`. Lexically checked only: what lies there is the jail's business.
 */
export type WorkspacePath = Brand<string, 'WorkspacePath'>;

declare const writable: unique symbol;

/** W11: a `WorkspacePath` that names neither the root nor anything in a `.git`. */
export type WritablePath = WorkspacePath & {readonly [writable]: true};

/** PATH_MAX and NAME_MAX of Linux, in bytes. */
const MAX_PATH_BYTES = 4096;
const MAX_NAME_BYTES = 255;

/**
 * W1: an absolute path counts where it lies inside one of `roots` (the root as it was given, and
 * its real path), or below the name that the root has for commands. `path_escape` outside, `invalid_params` for what can be no path at all.
 */
export function parseWorkspacePath(
  roots: readonly [string, ...string[]],
  path: string,
): Result<WorkspacePath> {
  const unusable = whyUnusable(path);
  if (unusable !== undefined) return unusablePath(path, unusable);
  // What commands call the root, where it is no place of the host that lies inside.
  // Where the root itself lies below that name, it is a place of the host.
  const isFree = !roots.some(root => root.startsWith(`${WORKSPACE_MOUNT}/`));
  const named = isAbsolute(path) && isFree ? [...roots, WORKSPACE_MOUNT] : roots;
  for (const root of named) {
    const inside = relative(root, resolve(root, path));
    // Compared by names: as strings, "/work2" starts with "/work".
    if (isAbsolute(inside) || inside === '..' || inside.startsWith(`..${sep}`)) continue;
    const names = inside.split(sep);
    const long = names.find(name => Buffer.byteLength(name) > MAX_NAME_BYTES);
    if (long !== undefined) return unusablePath(path, `a name in it is longer than ${MAX_NAME_BYTES} bytes`);
    return ok((names.join('/') || '.') as WorkspacePath);
  }
  return fail(
    'path_escape',
    `${quotePath(path)} lies outside the workspace. Use a path relative to the workspace root.`,
    {path, reason: 'outside_workspace'},
  );
}

export function parseWritablePath(roots: readonly [string, ...string[]], path: string): Result<WritablePath> {
  if (path.endsWith('/')) return unusablePath(path, 'it ends in "/", so it names a directory');
  const parsed = parseWorkspacePath(roots, path);
  return parsed.ok ? asWritable(parsed.value) : parsed;
}

/** W11: no tool writes below `.git`, however it is spelled. */
export function asWritable(path: WorkspacePath): Result<WritablePath> {
  if (path === '.') {
    return fail('not_a_file', 'The path names the workspace root. Name a file in it.', {
      path,
      kind: 'directory',
    });
  }
  const name = pathNames(path).find(isProtectedName);
  if (name === undefined) return ok(path as WritablePath);
  return fail(
    'path_escape',
    `${quotePath(path)} goes through ${quotePath(name)}, and no tool writes in .git. Leave it to git commands.`,
    {path, reason: 'git_directory'},
  );
}

/** The names a path consists of, outermost first; none for the root. */
export function pathNames(path: WorkspacePath): readonly string[] {
  return path === '.' ? [] : path.split('/');
}

/** The path of an entry of a directory. `name` must come from a directory listing. */
export function childPath(directory: WorkspacePath, name: string): WorkspacePath {
  if (name === '' || name === '.' || name === '..' || /[/\0]/.test(name)) {
    throw new TypeError(`Expected the name of a directory entry, got ${JSON.stringify(name)}`);
  }
  return (directory === '.' ? name : `${directory}/${name}`) as WorkspacePath;
}

/** For messages: quoted, what does not print escaped, no longer than a line. */
export function quotePath(path: string): string {
  return showInvisible(JSON.stringify(path.length > 200 ? `${takeStart(path, 200)}…` : path));
}

function whyUnusable(path: string): string | undefined {
  if (path === '') return 'it is empty';
  if (path.includes('\0')) return 'it contains a NUL character';
  // A lone surrogate would be written to disk as U+FFFD, which is another name.
  if (/\p{Surrogate}/u.test(path)) return 'it is not well-formed Unicode';
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `it is longer than ${MAX_PATH_BYTES} bytes`;
  return undefined;
}

function unusablePath(path: string, reason: string): Result<never> {
  return fail('invalid_params', `${quotePath(path)} cannot be a path: ${reason}. Correct \`path\`.`, {
    field: 'path',
    reason,
  });
}

/** What HFS+ and Unicode-aware comparison skip: default-ignorable code points and other format characters. */
const IGNORABLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu;

/** What Windows drops from the end of a name, and what it takes for an alternate stream. */
const TAIL = /[. ]*(?::.*)?$/su;

/**
 * W1, W11: two names that some file system takes for one fold to the same text: other case, compatibility
 * characters, invisible characters, trailing dots and blanks, NTFS streams.
 */
export function foldName(name: string): string {
  return name.normalize('NFKC').replace(IGNORABLE, '').toLowerCase().normalize('NFKC').replace(TAIL, '');
}

const PLAIN = /^[ -~]*$/;
const GIT = /git/i;

/** W1, W11: whether some file system takes the name for `.git`, NTFS short names included. */
export function isProtectedName(name: string): boolean {
  // Nearly all names: folding leaves what is printable ASCII as it is, but for its case.
  if (PLAIN.test(name) && !GIT.test(name)) return false;
  const folded = foldName(name);
  return folded === '.git' || /^git~\d+$/.test(folded);
}
