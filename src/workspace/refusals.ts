import {type Failure, fail} from '../core/failure.ts';
import type {Err} from '../core/result.ts';
import {quotePath} from './workspace-path.ts';

export function fileNotFound(path: string): Err<Failure> {
  return fail('file_not_found', `There is no ${quotePath(path)}. Look it up with list_files or glob.`, {
    path,
  });
}

// W1: a link is never followed, so where it leads, inside or outside, is not looked at.
export function symlinkBlocked(path: string, component: string): Err<Failure> {
  const where =
    component === path ? 'is a symbolic link' : `goes through the symbolic link ${quotePath(component)}`;
  return fail('symlink_blocked', `${quotePath(path)} ${where}. Use the path of the real file.`, {
    path,
    component,
  });
}

export function notAFile(path: string, kind: string): Err<Failure> {
  const what =
    kind === 'hard_linked' ? 'has several hard links, and such files are not written' : `is a ${kind}`;
  return fail('not_a_file', `${quotePath(path)} ${what}. Name a regular file.`, {path, kind});
}

export function notADirectory(path: string): Err<Failure> {
  return fail('file_not_found', `${quotePath(path)} is not a directory. Name the directory it is in.`, {
    path,
  });
}

// W6: judged by content. A file that was touched and not changed is not stale.
export function staleRead(path: string): Err<Failure> {
  return fail(
    'stale_read',
    `${quotePath(path)} changed since it was read in this session. Read it again and base the change on that.`,
    {path},
  );
}

export function notRead(path: string): Err<Failure> {
  return fail(
    'not_read',
    `${quotePath(path)} was not read in this session, so it may not be changed. Call read_file on it first.`,
    {path},
  );
}
