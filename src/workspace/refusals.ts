// The failures of work on files.
import {type Err, type Failure, fail, ok, type Result} from '../core/result.ts';
import {errorCode} from '../system/errors.ts';
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

// W6: checked by content. A file that was touched and not changed is not stale.
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

// Review R4
export function rootMoved(root: string): Err<Failure> {
  return fail(
    'io_error',
    `The workspace ${quotePath(root)} was moved or replaced since this session opened it, so nothing is done by that name. Put it back, or open a new session.`,
    {path: root, error: 'root_moved', operation: 'reach'},
  );
}

// Review R9
export function protectedPath(path: string): Err<Failure> {
  return fail(
    'path_escape',
    `${quotePath(path)} is protected: it is, or holds, what is kept from all tools, such as the configuration. Leave it as it is, or have it changed by hand.`,
    {path, reason: 'protected'},
  );
}

/** Of content that is to be written; what is read has its own limits. */
export function fileTooLarge(path: string, size: number): Err<Failure> {
  return fail(
    'file_too_large',
    `The new content of ${quotePath(path)} has ${size} bytes, more than the ${MAX_WHOLE_FILE_BYTES} that are written at once. Use run for a file of that size.`,
    {path, size, max_bytes: MAX_WHOLE_FILE_BYTES},
  );
}

/** Turns an operating-system error into a failure; a bug is thrown on. */
export function ioFailure(error: unknown, path: string, operation: string): Err<Failure> {
  const code = errorCode(error);
  switch (code) {
    case undefined:
      throw error;
    case 'ENOENT':
    case 'ENOTDIR':
      return fileNotFound(path);
    case 'ELOOP':
      return symlinkBlocked(path, path);
    case 'EISDIR':
      return notAFile(path, 'directory');
    default:
      return fail(
        'io_error',
        `Could not ${operation} ${quotePath(path)}: ${code}. Check permissions and free space.`,
        {path, error: code, operation},
      );
  }
}

/** Runs `work`; operating-system errors become failures. */
export async function attempt<Value>(
  path: string,
  operation: string,
  work: () => Promise<Value>,
): Promise<Result<Value>> {
  try {
    return ok(await work());
  } catch (error) {
    return ioFailure(error, path, operation);
  }
}

/** What `readFile` takes whole where the caller names no limit, and what edits work on. */
export const MAX_WHOLE_FILE_BYTES = 32 * 1024 * 1024;
