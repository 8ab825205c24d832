// Paths that no tool writes to, such as the configuration.
import {type BigIntStats, realpathSync, statSync} from 'node:fs';
import {basename, dirname, isAbsolute, join, relative, resolve, sep} from 'node:path';
import {ifRefused} from '../../system/errors.ts';
import {foldName, pathNames, type WorkspacePath} from '../workspace-path.ts';
import type {EntryIdentity} from './entry-handle.ts';

/**
 * Review R9: places that no tool writes to, such as the configuration, whether or not they are there. Absolute
 * paths of files or directories, inside the workspace or not.
 */
export class ProtectedPaths {
  readonly #paths: readonly string[];
  /** The folded names that lead to them from the root. None: the root itself, or what holds it. */
  readonly #names: readonly (readonly string[])[];
  readonly #identify: (path: WorkspacePath) => EntryIdentity | undefined;

  /** `identify`: what lies at a path of the workspace. */
  constructor(
    roots: readonly string[],
    paths: readonly string[],
    identify: (path: WorkspacePath) => EntryIdentity | undefined,
  ) {
    this.#paths = paths.map(path => resolve(path));
    this.#names = this.#paths
      // A link is protected, and what it leads to.
      .flatMap(path => [path, join(realPathOf(dirname(path)), basename(path)), realPathOf(path)])
      .flatMap(path => roots.flatMap(root => namesBelow(root, path)));
    this.#identify = identify;
  }

  /** Whether it is one of them, lies in one, or holds one. */
  protects(path: WorkspacePath): boolean {
    const names = pathNames(path);
    const folded = names.map(foldName);
    if (this.#names.some(other => startsAlike(other, folded))) return true;
    return this.#holdsOne(names);
  }

  /** A hard link and a mount are other names for the same thing. */
  #holdsOne(names: readonly string[]): boolean {
    const known = this.#paths.flatMap(path => statOf(path) ?? []);
    if (known.length === 0) return false;
    return names.some((_, depth) => {
      const found = this.#identify(names.slice(0, depth + 1).join('/') as WorkspacePath);
      return found !== undefined && known.some(({dev, ino}) => dev === found.dev && ino === found.ino);
    });
  }
}

/** One leads to the other, or they are the same. */
function startsAlike(one: readonly string[], other: readonly string[]): boolean {
  const length = Math.min(one.length, other.length);
  return one.slice(0, length).every((name, index) => name === other[index]);
}

function namesBelow(root: string, path: string): readonly (readonly string[])[] {
  const inside = relative(root, path);
  if (isInside(relative(path, root))) return [[]];
  return isInside(inside) ? [inside.split(sep).map(foldName)] : [];
}

/** Below, or the same. */
function isInside(inside: string): boolean {
  return inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
}

/** With the links resolved in as much of it as is there. */
function realPathOf(path: string): string {
  const known = ifRefused(() => realpathSync(path));
  const above = dirname(path);
  return known ?? (above === path ? path : join(realPathOf(above), basename(path)));
}

function statOf(path: string): BigIntStats | undefined {
  return ifRefused(() => statSync(path, {bigint: true}));
}
