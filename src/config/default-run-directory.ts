import {isAbsolute, join, sep} from 'node:path';
import type {Environment} from './environment.ts';

/**
 * Where a run is kept if nobody says: the user's state directory (XDG), else the temporary one. Never
 * inside the workspace (ruling W10). `name` makes it the run's own.
 */
export function defaultRunDirectory(
  {env, homeDir, tempDir}: Environment,
  workspace: string | undefined,
  name: string,
): string {
  const xdg = env['XDG_STATE_HOME'];
  const state = xdg !== undefined && isAbsolute(xdg) ? xdg : join(homeDir, '.local', 'state');
  const directory = join(state, 'forge-tools', 'runs', name);
  const inside =
    workspace !== undefined &&
    directory.startsWith(workspace.endsWith(sep) ? workspace : `${workspace}${sep}`);
  return isAbsolute(homeDir) && !inside ? directory : join(tempDir, `forge-tools-run-${name}`);
}
