import {ok, type Result} from '../../core/result.ts';
import type {ContentHash} from '../content-hash.ts';
import type {Deadline} from '../deadline.ts';
import type {Workspace} from '../jail/jail.ts';
import {hashOpenFile} from '../open-file.ts';
import type {WorkspacePath} from '../workspace-path.ts';

/** The hash of what a file says now; undefined where there is no file. */
export async function currentHash(
  workspace: Workspace,
  path: WorkspacePath,
  deadline?: Deadline,
): Promise<Result<ContentHash | undefined>> {
  const file = await workspace.openFile(path);
  if (!file.ok) return file.error.code === 'file_not_found' ? ok(undefined) : file;
  try {
    return await hashOpenFile(file.value, deadline);
  } finally {
    await file.value.close();
  }
}
