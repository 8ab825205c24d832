// Finds what of `.git` a command may not write, and mends it afterwards.
import {chmodSync} from 'node:fs';
import {isAbsolute, relative, resolve, sep} from 'node:path';
import {ok, type Result} from '../../core/result.ts';
import {errorCode} from '../../system/errors.ts';
import {sandboxFailure} from '../sandbox-failure.ts';
import {type HeldDirectory, holdDirectory} from './held-directory.ts';
import {
  type GuardedMount,
  guardedMount,
  isPlaceHolder,
  makePlaceHolder,
  type PlaceHolder,
  readEntry,
  removePlaceHolder,
} from './hold-protected.ts';

export type GitAccess = 'read-only' | 'commit';

/**
 * review R7: where git finds this file it looks no further. An empty directory would not stop it: it would go on
 * to a repository that a command has laid out in the root of the workspace.
 */
export const NO_REPOSITORY: PlaceHolder = {
  name: '.git',
  content:
    'gitdir: /nonexistent/forge-tools keeps this name while commands run here; remove the file .git if no session is open\n',
};

const NO_SETTINGS = '# forge-tools keeps this name while commands run here\n';

/** What git executes or is configured by, below `.git`. What is missing is held by these. */
export const CLOSED: readonly PlaceHolder[] = [
  {name: 'commondir', content: '.\n'},
  {name: 'config', content: NO_SETTINGS},
  {name: 'config.worktree', content: NO_SETTINGS},
  {name: 'hooks', content: undefined},
  {name: 'info', content: undefined},
  {name: 'modules', content: undefined},
  {name: 'worktrees', content: undefined},
];

/** Without them git takes `.git` for no repository, so they stay where they are. */
const NEEDED = [
  {name: 'HEAD', writable: false},
  {name: 'objects', writable: true},
  {name: 'refs', writable: true},
];

const MAX_POINTER_BYTES = 4096;

export interface HeldGit {
  readonly mounts: readonly GuardedMount[];
  /** What is ours to take away at the end, by the directory it lies in (relative to the workspace). */
  readonly placeHolders: readonly {readonly directory: string; readonly holder: PlaceHolder}[];
}

/** Ruling W11: `.git` is a mount at every moment. `root` is the workspace at `workspace`. */
export function holdGit(root: HeldDirectory, workspace: string, access: GitAccess): Result<HeldGit> {
  const isMade = root.look('.git') === undefined && makePlaceHolder(root, NO_REPOSITORY);
  try {
    return holdWhatIsThere(root, workspace, access);
  } catch (error) {
    // Nobody would know that it is ours.
    if (isMade) removePlaceHolder(root, NO_REPOSITORY);
    throw error;
  }
}

function holdWhatIsThere(root: HeldDirectory, workspace: string, access: GitAccess): Result<HeldGit> {
  const git = root.look('.git');
  if (git === undefined) return refused('vanished while it was looked at', 'call again.');
  if (git.isSymbolicLink()) {
    return refused(
      'is a symbolic link, which a command could replace',
      'put the directory in its place, or a file with the line "gitdir: PATH".',
    );
  }
  if (git.isFile()) {
    const mounts = [guardedMount('.git', git, false)];
    if (isPlaceHolder(root, NO_REPOSITORY)) {
      return ok({mounts, placeHolders: [{directory: '', holder: NO_REPOSITORY}]});
    }
    const target = pointsInside(readEntry(root, '.git', MAX_POINTER_BYTES) ?? '', workspace);
    if (target === undefined) return ok({mounts, placeHolders: []});
    return refused(
      `is a file that points to ${JSON.stringify(target)}, where commands could change what git executes`,
      'move that repository out of the workspace, or make it .git itself.',
    );
  }
  const held = holdDirectory(root.at('.git'));
  if (held === undefined) return refused('is neither a directory nor a file', 'remove it.');
  try {
    if (!isRepository(held)) {
      return refused(
        'is a directory that git takes for no repository, so it would look for one in what commands write',
        'run git init, or remove the directory.',
      );
    }
    if (access === 'read-only')
      return ok({mounts: [guardedMount('.git', held.info, false)], placeHolders: []});
    return holdParts(held);
  } finally {
    held.close();
  }
}

/** `commit`: objects, refs, index and logs are for writing, the rest is not. */
function holdParts(git: HeldDirectory): Result<HeldGit> {
  const parts: GuardedMount[] = [];
  const placeHolders: {directory: string; holder: PlaceHolder}[] = [];
  for (const holder of CLOSED) {
    const isMade = git.look(holder.name) === undefined && makePlaceHolder(git, holder);
    const info = git.look(holder.name);
    // Links cannot be mounted over.
    if (info === undefined || info.isSymbolicLink()) return notCommittable(holder.name);
    parts.push(guardedMount(`.git/${holder.name}`, info, false));
    if (isMade || isPlaceHolder(git, holder)) placeHolders.push({directory: '.git', holder});
  }
  for (const {name, writable} of NEEDED) {
    const info = git.look(name);
    if (info === undefined || info.isSymbolicLink()) return notCommittable(name);
    parts.push(guardedMount(`.git/${name}`, info, writable));
  }
  // What was just made has changed `.git`.
  const info = git.look('.') ?? git.info;
  return ok({mounts: [guardedMount('.git', info, true), ...parts], placeHolders});
}

/** As git decides it: HEAD names something, and objects and refs are there, or are in another directory. */
function isRepository(git: HeldDirectory): boolean {
  const head = git.look('HEAD');
  if (head === undefined) return false;
  if (!head.isSymbolicLink() && !/^(?:ref:\s*refs\/|[0-9a-f]{40})/.test(readEntry(git, 'HEAD', 256) ?? '')) {
    return false;
  }
  if (git.look('commondir') !== undefined) return true;
  return git.look('objects') !== undefined && git.look('refs') !== undefined;
}

/** Where the line `gitdir: PATH` leads, if that is in the workspace. */
function pointsInside(content: string, workspace: string): string | undefined {
  const path = /^gitdir:\s*(.+?)[\r\n]*$/.exec(content)?.[1];
  if (path === undefined) return undefined;
  const from = relative(workspace, resolve(workspace, path));
  return from === '..' || from.startsWith(`..${sep}`) || isAbsolute(from) ? undefined : path;
}

function notCommittable(name: string): Result<never> {
  return refused(
    `cannot be committed to: ${JSON.stringify(name)} in it is missing or a symbolic link, so it cannot be held in place`,
    'set tools.run.git = "read-only".',
  );
}

function refused(problem: string, remedy: string): Result<never> {
  return sandboxFailure({problem: `The .git of the workspace ${problem}`, remedy});
}

/** What the owner of a directory needs to enter it: without it git takes `.git` for no repository. */
const OWNER = 0o700;

/**
 * Ruling W11: with `git = "commit"` a command may change the modes of `.git`, `objects` and `refs`. Where their
 * owner cannot enter them, git passes `.git` over and takes the HEAD, objects and refs that a command has laid
 * out in the root. So they are opened again. `root` is the workspace.
 */
export function mendGit(root: HeldDirectory): Result<undefined> {
  const git = holdDirectory(root.at('.git'));
  if (git === undefined) return ok(undefined);
  try {
    const mended = open(git, '.git');
    if (!mended.ok) return mended;
    for (const name of ['objects', 'refs']) {
      const part = holdDirectory(git.at(name));
      if (part === undefined) continue;
      try {
        const opened = open(part, `.git/${name}`);
        if (!opened.ok) return opened;
      } finally {
        part.close();
      }
    }
    return ok(undefined);
  } finally {
    git.close();
  }
}

function open({address, info}: HeldDirectory, path: string): Result<undefined> {
  const mode = Number(info.mode & 0o7777n);
  // Where handles are names, a link could have been held.
  if (!info.isDirectory() || (mode & OWNER) === OWNER) return ok(undefined);
  try {
    chmodSync(address, mode | OWNER);
    return ok(undefined);
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return sandboxFailure({
      problem: `The owner of ${JSON.stringify(path)} cannot enter it, so git would look for a repository in what commands write`,
      remedy: `chmod u+rwx ${path}, or set tools.run.git = "read-only".`,
      error: error instanceof Error ? error.message : String(error),
    });
  }
}
