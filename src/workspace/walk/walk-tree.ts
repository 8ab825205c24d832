// Lists the files of a walk, and folds directories that are ignored or too deep.
import {ok, type Result} from '../../core/result.ts';
import type {Workspace} from '../jail/jail.ts';
import type {WorkspacePath} from '../workspace-path.ts';
import {TreeWalk, type WalkRules} from './tree-walk.ts';

export interface WalkOptions extends WalkRules {
  readonly maxFiles: number;
  /** Names in a path, from 1: files deeper than this are counted for the directory in which they lie at that depth. */
  readonly depth?: number | undefined;
}

export interface FoldedDirectory {
  /** That fit, at any depth below it. */
  readonly files: number;
  readonly isIgnored: boolean;
}

export interface WalkedTree {
  /** The first ones in bytewise order, relative to the root of the walk. */
  readonly files: readonly string[];
  /** How many there are in all. */
  readonly total: number;
  /** Those of them that are not deeper than `depth`. */
  readonly shallow: number;
  /** With `counted`: how many more fit and are ignored. */
  readonly ignoredFiles: number;
  /** What `marked` and `depth` fold: directories by what leads to them (`lib/`), in order. */
  readonly folded: ReadonlyMap<string, FoldedDirectory>;
  /** With `marked`: the first ones that lie in none of them. */
  readonly ownFiles: readonly string[];
}

/** W3: the files of a walk. Memory holds one level of each depth, `maxFiles` paths and what is folded. */
export async function walkTree(
  workspace: Pick<Workspace, 'resolve' | 'openDirectory' | 'openFile'>,
  root: WorkspacePath,
  {maxFiles, depth, ...rules}: WalkOptions,
): Promise<Result<WalkedTree>> {
  const walk = new TreeWalk(workspace, root, rules);
  const files: string[] = [];
  const ownFiles: string[] = [];
  const folded = new Map<string, FoldedDirectory>();
  let total = 0;
  let shallow = 0;
  for await (const {prefix, names, ignoredRoot} of walk.runs()) {
    total += names.length;
    const deep = depth === undefined ? undefined : deepest(prefix, depth);
    if (deep === undefined) {
      shallow += names.length;
      for (const name of names.slice(0, maxFiles - files.length)) files.push(`${prefix}${name}`);
    }
    const fold = outermost(deep, ignoredRoot);
    if (fold !== undefined) {
      const before = folded.get(fold)?.files ?? 0;
      folded.set(fold, {files: before + names.length, isIgnored: fold === ignoredRoot});
    } else {
      for (const name of names.slice(0, maxFiles - ownFiles.length)) ownFiles.push(`${prefix}${name}`);
    }
  }
  return walk.failure ?? ok({files, total, shallow, ignoredFiles: walk.ignoredFiles, folded, ownFiles});
}

/** The directory at that depth in which the files behind a prefix lie; undefined where they are not deeper. */
function deepest(prefix: string, depth: number): string | undefined {
  let at = -1;
  for (let names = 0; names < depth; names += 1) {
    at = prefix.indexOf('/', at + 1);
    if (at === -1) return undefined;
  }
  return prefix.slice(0, at + 1);
}

/** Of two directories of which one lies in the other. */
function outermost(one: string | undefined, other: string | undefined): string | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one.length < other.length ? one : other;
}
