import {ok, type Result} from '../core/result.ts';
import type {Workspace} from './jail.ts';
import {TreeWalk, type WalkRules} from './tree-walk.ts';
import type {WorkspacePath} from './workspace-path.ts';

export interface WalkOptions extends WalkRules {
  readonly maxFiles: number;
}

export interface WalkedTree {
  /** The first ones in bytewise order, relative to the root of the walk. */
  readonly files: readonly string[];
  /** How many there are in all. */
  readonly total: number;
}

/** W3: the files of a walk. Memory holds one level of each depth and `maxFiles` paths. */
export async function walkTree(
  workspace: Pick<Workspace, 'resolve' | 'openDirectory' | 'openFile'>,
  root: WorkspacePath,
  {maxFiles, ...rules}: WalkOptions,
): Promise<Result<WalkedTree>> {
  const walk = new TreeWalk(workspace, root, rules);
  const files: string[] = [];
  let total = 0;
  for await (const {prefix, names} of walk.runs()) {
    for (const name of names.slice(0, maxFiles - files.length)) files.push(`${prefix}${name}`);
    total += names.length;
  }
  return walk.failure ?? ok({files, total});
}
