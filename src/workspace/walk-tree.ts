import {ok, type Result} from '../core/result.ts';
import {bytewise} from './bytewise.ts';
import {type Deadline, overdue} from './deadline.ts';
import type {Glob} from './glob/compile-glob.ts';
import {extendScope} from './glob/extend-scope.ts';
import type {IgnoreScope} from './glob/ignore-scope.ts';
import {isPassedOver} from './is-passed-over.ts';
import type {Workspace} from './jail.ts';
import type {DirectoryEntry, OpenDirectory} from './jailed-directory.ts';
import {isProtectedName} from './protected-name.ts';
import {pathNames, type WorkspacePath} from './workspace-path.ts';

export interface WalkOptions {
  /** Holds below the root of the walk. */
  readonly glob?: Pick<Glob, 'keepsDirectory' | 'keepsFile'> | undefined;
  /** W3: leaves out what .gitignore files ignore, and hidden files. */
  readonly respectGitignore?: boolean | undefined;
  readonly maxFiles: number;
  readonly deadline?: Deadline | undefined;
}

export interface WalkedTree {
  /** The first ones in bytewise order, relative to the root of the walk. */
  readonly files: readonly string[];
  /** How many there are in all. */
  readonly total: number;
}

/** A directory that is being gone through. */
interface Level {
  readonly entries: readonly DirectoryEntry[];
  next: number;
  /** Below the root of the walk. */
  readonly names: readonly string[];
  readonly scope: IgnoreScope | undefined;
}

const CHECK_EVERY = 64;

/**
 * W3: the regular files below a directory; nothing in `.git`, no links, no devices. Goes through the
 * tree in the order of the answer, so that memory holds one level of each depth and `maxFiles` paths.
 */
export async function walkTree(
  workspace: Workspace,
  root: WorkspacePath,
  options: WalkOptions,
): Promise<Result<WalkedTree>> {
  const {glob, respectGitignore = false, maxFiles, deadline} = options;
  const above = pathNames(root);
  const rootScope = respectGitignore ? await scopeAbove(workspace, above) : undefined;
  const first = await enter(workspace, root, [], above.length, rootScope, options);
  if (!first.ok) return first;
  const levels = [first.value];
  const files: string[] = [];
  let total = 0;
  let looked = 0;
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const entry = level.entries[level.next];
    if (entry === undefined) {
      levels.pop();
      continue;
    }
    level.next += 1;
    looked += 1;
    const isDirectory = entry.kind === 'directory';
    if (isDirectory || looked % CHECK_EVERY === 0) {
      const late = overdue(deadline);
      if (late !== undefined) return late;
    }
    const names = [...level.names, entry.name];
    if (level.scope?.ignores(fullNames(above, names), isDirectory)) continue;
    if (!isDirectory) {
      if (glob !== undefined && !glob.keepsFile(names)) continue;
      total += 1;
      if (files.length < maxFiles) files.push(names.join('/'));
      continue;
    }
    if (glob !== undefined && !glob.keepsDirectory(names)) continue;
    const path = workspace.resolve(fullNames(above, names).join('/'));
    if (!path.ok) continue;
    const below = await enter(workspace, path.value, names, above.length, level.scope, options);
    if (below.ok) levels.push(below.value);
    else if (!isPassedOver(below.error)) return below;
  }
  return ok({files, total});
}

function fullNames(above: readonly string[], names: readonly string[]): readonly string[] {
  return above.length === 0 ? names : [...above, ...names];
}

async function enter(
  workspace: Workspace,
  path: WorkspacePath,
  names: readonly string[],
  depthAbove: number,
  scope: IgnoreScope | undefined,
  {respectGitignore = false}: WalkOptions,
): Promise<Result<Level>> {
  const opened = workspace.openDirectory(path);
  if (!opened.ok) return opened;
  try {
    const listed = await opened.value.entries();
    if (!listed.ok) return listed;
    const wanted = listed.value.filter(
      ({name, kind}) =>
        (kind === 'file' || kind === 'directory') &&
        !isProtectedName(name) &&
        !(respectGitignore && name.startsWith('.')),
    );
    // A directory is followed by a slash in the paths that are compared.
    const keyed = wanted.map(entry => ({
      entry,
      key: entry.kind === 'directory' ? `${entry.name}/` : entry.name,
    }));
    const entries = keyed.sort((one, other) => bytewise(one.key, other.key)).map(({entry}) => entry);
    const own = respectGitignore
      ? await ownScope(opened.value, listed.value, depthAbove + names.length, scope)
      : undefined;
    return ok({entries, next: 0, names, scope: own});
  } finally {
    opened.value.close();
  }
}

async function ownScope(
  directory: OpenDirectory,
  entries: readonly DirectoryEntry[],
  depth: number,
  above: IgnoreScope | undefined,
): Promise<IgnoreScope | undefined> {
  if (!entries.some(({name, kind}) => name === '.gitignore' && kind === 'file')) return above;
  return extendScope(above, depth, await directory.openFile('.gitignore'));
}

/** What the directories above the root of the walk say. Whether the root itself is ignored does not count. */
async function scopeAbove(workspace: Workspace, names: readonly string[]): Promise<IgnoreScope | undefined> {
  let scope: IgnoreScope | undefined;
  for (let depth = 0; depth < names.length; depth += 1) {
    const path = workspace.resolve([...names.slice(0, depth), '.gitignore'].join('/'));
    if (path.ok) scope = await extendScope(scope, depth, await workspace.openFile(path.value));
  }
  return scope;
}
