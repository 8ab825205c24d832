import {sep} from 'node:path';
import type {Environment} from '../config/environment.ts';

/**
 * Review R3: where no workspace is named, the directory that we were started in is as likely a project with
 * programs of its own, and none of them is run. The home of the user and what lies above it are no project.
 */
export function startedIn({cwd, homeDir}: Pick<Environment, 'cwd' | 'homeDir'>): readonly string[] {
  const below = cwd.endsWith(sep) ? cwd : `${cwd}${sep}`;
  return homeDir === cwd || homeDir.startsWith(below) ? [] : [cwd];
}
