import {delimiter, dirname, isAbsolute, join, sep} from 'node:path';
import type {Environment} from './environment.ts';

/** Where runs are kept if nobody says: below the user's state directory (XDG). */
export function defaultRunsRoot({env, homeDir, tempDir}: Environment): string {
  const xdg = env['XDG_STATE_HOME'];
  if (xdg !== undefined && isAbsolute(xdg)) return join(xdg, 'forge-tools', 'runs');
  if (isAbsolute(homeDir)) return join(homeDir, '.local', 'state', 'forge-tools', 'runs');
  return join(tempDir, 'forge-tools-runs');
}

/** The directory of one run, under its `name`. Never inside the workspace (ruling W10). */
export function defaultRunDirectory(
  environment: Environment,
  workspace: string | undefined,
  name: string,
): string {
  const directory = join(defaultRunsRoot(environment), name);
  if (workspace === undefined || !isInside(directory, workspace)) return directory;
  return join(environment.tempDir, `forge-tools-run-${name}`);
}

function isInside(path: string, root: string): boolean {
  return path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`);
}

/** Locks, journals and copies of workspace changes: one place for all processes of the user. */
export function defaultStateDirectory(environment: Environment, workspace: string): string {
  const directory = join(dirname(defaultRunsRoot(environment)), 'journal');
  return isInside(directory, workspace) ? join(environment.tempDir, 'forge-tools-journal') : directory;
}

/** The absolute directories of `PATH`; a relative one would depend on where the model works. */
export function programDirectories({env}: Environment): readonly string[] {
  return (env['PATH'] ?? '').split(delimiter).filter(isAbsolute);
}
