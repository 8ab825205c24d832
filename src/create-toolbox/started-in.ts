import {realpathSync} from 'node:fs';
import {sep} from 'node:path';
import type {Environment} from '../config/environment.ts';

/**
 * Review R3: where no workspace is named, the directory that we were started in is as likely a project with
 * programs of its own, and none of them is run. The home of the user and what lies above it are no project.
 */
export function startedIn({cwd, homeDir}: Pick<Environment, 'cwd' | 'homeDir'>): readonly string[] {
  const below = cwd.endsWith(sep) ? cwd : `${cwd}${sep}`;
  // The working directory has no links in its name; the home of the user may.
  const homes = [homeDir, realPath(homeDir)];
  return homes.some(home => home === cwd || home.startsWith(below)) ? [] : [cwd];
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
