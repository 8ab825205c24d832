import {ok, type Result} from '../../core/result.ts';
import type {Deadline} from '../deadline.ts';
import type {FileSystem} from '../file-system.ts';
import type {WorkspacePath} from '../workspace-path.ts';
import type {Glob} from './compile-glob.ts';

/** ADR 08: `glob` where there is no ripgrep. The files below `root` that are wanted, in bytewise order. */
export async function scanFiles(
  fileSystem: Pick<FileSystem, 'listFiles'>,
  root: WorkspacePath,
  glob: Glob,
  deadline?: Deadline,
): Promise<Result<readonly WorkspacePath[]>> {
  const listed = await fileSystem.listFiles(root, deadline);
  if (!listed.ok) return listed;
  const start = root === '.' ? 0 : root.length + 1;
  return ok(listed.value.filter(path => glob.keepsPath(path.slice(start))));
}
