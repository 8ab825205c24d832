import {join} from 'node:path';
import {type Clock, systemClock} from '../core/clock.ts';
import {fail} from '../core/failure/fail.ts';
import {ok, type Result} from '../core/result.ts';
import {lockHolder, takeFileLock} from '../system/file-lock.ts';
import {ioFailure} from './io-failure.ts';

/** Makes this process the only writer of a run directory. The value releases the lock. */
export async function lockRun(directory: string, clock: Clock): Promise<Result<() => Promise<void>>> {
  const path = lockPath(directory);
  try {
    const lock = await takeFileLock(path, {clock});
    if (lock.state === 'held') return ok(async () => lock.release());
    const {pid, host} = lock.holder ?? {};
    const who = pid === undefined ? 'another process' : `process ${pid} on ${host}`;
    return fail(
      'io_error',
      `The run directory ${JSON.stringify(directory)} is in use by ${who}. Use another run directory; if that process is gone, delete ${path}.`,
      {path: directory, error: 'in_use', operation: 'lock'},
    );
  } catch (error) {
    return ioFailure(error, directory, 'lock');
  }
}

/** Whether a living process is writing to the run, as far as this machine can tell. */
export function isRunInUse(directory: string, clock: Clock = systemClock): boolean {
  return lockHolder(lockPath(directory), clock) !== undefined;
}

function lockPath(directory: string): string {
  return join(directory, 'lock');
}
