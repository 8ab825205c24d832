// Suggests similar paths where a file was not found.
import {Deadline} from '../../core/deadline.ts';
import type {Err, Failure} from '../../core/result.ts';
import {editDistance} from '../../core/text/nearest-name.ts';
import {walkTree} from '../../workspace/walk/walk-tree.ts';
import {childPath, pathNames, type WorkspacePath} from '../../workspace/workspace-path.ts';
import type {WorkspaceSession} from './session.ts';

const SUGGESTED = 5;
const LOOKED_AT = 2000;
const SEARCH_MS = 300;
const LONGEST_NAME = 100;

/** Adds to a `file_not_found` what was perhaps meant: the same name elsewhere, or a similar one nearby. */
export async function suggestSimilar(
  session: WorkspaceSession,
  failure: Err<Failure>,
  signal: AbortSignal,
): Promise<Err<Failure>> {
  const {error} = failure;
  const {path} = error.details;
  if (error.code !== 'file_not_found' || typeof path !== 'string') return failure;
  const wanted = session.workspace.resolve(path);
  if (!wanted.ok || wanted.value === '.') return failure;
  const found = [
    ...(await neighbours(session, wanted.value)),
    ...(await namesakes(session, wanted.value, signal)),
  ];
  const similar = [...new Set(found)].filter(one => one !== wanted.value).slice(0, SUGGESTED);
  if (similar.length === 0) return failure;
  const named = similar.map(one => JSON.stringify(one)).join(', ');
  return {
    ok: false,
    error: {
      ...error,
      message: `${error.message} Similar: ${named}.`,
      details: {...error.details, similar},
    },
  };
}

/** In the nearest directory above it that is there: names that differ in a few characters, the nearest first. */
async function neighbours(session: WorkspaceSession, wanted: WorkspacePath): Promise<readonly string[]> {
  const names = pathNames(wanted);
  for (let depth = names.length - 1; depth >= 0; depth -= 1) {
    const above = session.workspace.resolve(names.slice(0, depth).join('/') || '.');
    if (!above.ok) return [];
    const directory = session.workspace.openDirectory(above.value);
    if (!directory.ok) continue;
    const listed = await directory.value.entries();
    directory.value.close();
    if (!listed.ok) return [];
    const name = (names[depth] ?? '').toLowerCase();
    if (name.length > LONGEST_NAME) return [];
    return listed.value
      .slice(0, LOOKED_AT)
      .filter(entry => entry.name.length <= LONGEST_NAME)
      .map(entry => ({entry, distance: editDistance(name, entry.name.toLowerCase())}))
      .filter(({distance}) => distance <= Math.max(1, Math.floor(name.length / 3)))
      .sort((one, other) => one.distance - other.distance || (one.entry.name < other.entry.name ? -1 : 1))
      .map(({entry}) => childPath(above.value, entry.name));
  }
  return [];
}

/** Files of that name, in any case, anywhere. */
async function namesakes(
  session: WorkspaceSession,
  wanted: WorkspacePath,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const {workspace, clock} = session;
  const name = pathNames(wanted).at(-1)?.toLowerCase();
  const root = workspace.resolve('.');
  if (!root.ok) return [];
  const glob = {
    matchesDirectory: () => true,
    matchesFile: (names: readonly string[]) => names.at(-1)?.toLowerCase() === name,
  };
  const deadline = new Deadline(SEARCH_MS, clock, signal);
  const within = {glob, ignored: 'left-out', maxFiles: SUGGESTED, deadline} as const;
  const walked = await walkTree(workspace, root.value, within).finally(() => deadline.close());
  return walked.ok ? walked.value.files : [];
}
