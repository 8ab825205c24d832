import {delimiter, dirname, isAbsolute, join, sep} from 'node:path';
import type {Environment} from './environment.ts';

/** Where runs are kept if the user does not say: below the user's state directory (XDG). */
export function defaultRunsRoot({env, homeDir, tempDir}: Environment): string {
  const xdg = env['XDG_STATE_HOME'];
  if (xdg !== undefined && isAbsolute(xdg)) return join(xdg, 'forge-tools', 'runs');
  if (isAbsolute(homeDir)) return join(homeDir, '.local', 'state', 'forge-tools', 'runs');
  return join(tempDir, ownName('forge-tools-runs'));
}

/** The directory of one run, under its `name`. Never inside the workspace (ruling W10). */
export function defaultRunDirectory(
  environment: Environment,
  workspace: string | undefined,
  name: string,
): string {
  const directory = join(defaultRunsRoot(environment), name);
  if (workspace === undefined || !isInside(directory, workspace)) return directory;
  return join(environment.tempDir, ownName(`forge-tools-run-${name}`));
}

function isInside(path: string, root: string): boolean {
  return path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`);
}

/** Locks, journals and copies of workspace changes: one place for all processes of the user. */
export function defaultStateDirectory(environment: Environment, workspace: string): string {
  const directory = join(dirname(defaultRunsRoot(environment)), 'journal');
  return isInside(directory, workspace)
    ? join(environment.tempDir, ownName('forge-tools-journal'))
    : directory;
}

/**
 * What a session on any workspace of the user believes: journals to be restored, approvals of its runs. Those of
 * other workspaces can lie in this one, such as where it is the home directory.
 */
export function believedDirectories(environment: Environment, workspace: string): readonly string[] {
  const runs = defaultRunsRoot(environment);
  return [defaultStateDirectory(environment, workspace), join(dirname(runs), 'journal'), runs];
}

/** The absolute directories of `PATH`; a relative one would depend on where the model works. */
export function programDirectories({env}: Environment): readonly string[] {
  return (env['PATH'] ?? '').split(delimiter).filter(isAbsolute);
}

/** review R6: in a directory that all users share, a name of one's own. Whoever uses it looks at its owner, too. */
function ownName(name: string): string {
  const uid = process.getuid?.();
  return uid === undefined ? name : `${name}-${uid}`;
}
