import {fail} from '../core/failure/fail.ts';
import type {Failure} from '../core/failure/failure.ts';
import type {Err} from '../core/result.ts';
import {errorCode} from '../system/error-code.ts';

/** Turns an operating-system error into a failure; a bug is thrown on. */
export function ioFailure(error: unknown, path: string, operation: string): Err<Failure> {
  const code = errorCode(error);
  if (code === undefined) throw error;
  return fail(
    'io_error',
    `Could not ${operation} ${JSON.stringify(path)}: ${code}. Check permissions and free space.`,
    {path, error: code, operation},
  );
}
