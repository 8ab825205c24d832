import {ok, type Result} from '../../core/result.ts';
import type {Glob} from '../../workspace/glob/compile-glob.ts';
import {pathNames, type WorkspacePath} from '../../workspace/workspace-path.ts';
import type {WorkspaceSession} from '../files/workspace-session.ts';

export interface SearchPlace {
  /** The directory in which files are looked for. */
  readonly root: WorkspacePath;
  readonly glob: Pick<Glob, 'keepsDirectory' | 'keepsFile'> | undefined;
  /** One file was named; whether it is ignored does not count then. */
  readonly isFile: boolean;
}

/** Where a search looks: below a directory, in one file, or everywhere. */
export async function searchPlace(
  {workspace}: Pick<WorkspaceSession, 'workspace'>,
  path: string | undefined,
  glob: Glob | undefined,
): Promise<Result<SearchPlace>> {
  const place = workspace.resolve(path ?? '.');
  if (!place.ok) return place;
  if (path === undefined) return ok({root: place.value, glob, isFile: false});
  const directory = workspace.openDirectory(place.value);
  if (directory.ok) {
    directory.value.close();
    return ok({root: place.value, glob, isFile: false});
  }
  const file = await workspace.openFile(place.value);
  if (!file.ok) return file;
  await file.value.close();
  const names = pathNames(place.value);
  const name = names.at(-1);
  const above = workspace.resolve(names.slice(0, -1).join('/') || '.');
  if (!above.ok) return above;
  const only = {
    keepsDirectory: () => false,
    keepsFile: (names: readonly string[]) => names.length === 1 && names[0] === name,
  };
  return ok({root: above.value, glob: only, isFile: true});
}
