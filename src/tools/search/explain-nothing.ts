import type {Deadline} from '../../workspace/deadline.ts';
import {walkTree} from '../../workspace/walk/walk-tree.ts';
import type {WorkspaceSession} from '../files/workspace-session.ts';
import type {SearchPlace} from './search-place.ts';

/** Why a search found nothing. */
export type NothingFound = {
  readonly searched_files: number;
  /** That fit and were not searched. */
  readonly ignored_files: number;
  /** A pattern that was perhaps meant. */
  readonly hint?: string;
};

/** A model that finds nothing concludes that there is nothing, so it is told where it was looked for (W17). */
export async function explainNothing(
  session: Pick<WorkspaceSession, 'workspace'>,
  {
    glob,
    include_ignored,
  }: {readonly glob?: string | undefined; readonly include_ignored?: boolean | undefined},
  {place, searched}: {readonly place: SearchPlace; readonly searched: number},
  deadline: Deadline,
): Promise<NothingFound> {
  const {workspace} = session;
  const isAll = include_ignored === true || place.isFile;
  const walked = isAll
    ? undefined
    : await walkTree(workspace, place.root, {glob: place.glob, ignored: 'counted', maxFiles: 0, deadline});
  const ignored = walked?.ok ? walked.value.ignoredFiles : 0;
  const fits = walked?.ok ? walked.value.total + ignored : searched;
  const hint = glob !== undefined && fits === 0 ? directoryPattern(workspace, glob) : undefined;
  return {
    searched_files: searched,
    ignored_files: ignored,
    ...(hint !== undefined && {hint}),
  };
}

/** `src/click` names a directory, in which files are fitted by `src/click/**`. */
function directoryPattern(workspace: WorkspaceSession['workspace'], glob: string): string | undefined {
  const path = workspace.resolve(glob.replace(/\/+$/, ''));
  if (!path.ok) return undefined;
  const directory = workspace.openDirectory(path.value);
  if (!directory.ok) return undefined;
  directory.value.close();
  return `${path.value}/**`;
}
