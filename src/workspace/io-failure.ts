import {fail} from '../core/failure/fail.ts';
import type {Failure} from '../core/failure/failure.ts';
import {type Err, ok, type Result} from '../core/result.ts';
import {errorCode} from '../system/error-code.ts';
import {fileNotFound, notAFile, symlinkBlocked} from './refusals.ts';
import {quotePath} from './workspace-path.ts';

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
