import type {ChildProcess} from 'node:child_process';
import {errorCode} from '../../system/error-code.ts';

/** Kills the process group that a child leads. What has left the group dies with its parent. */
export function endGroup({pid}: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // Nobody is left in it.
    if (errorCode(error) === undefined) throw error;
  }
}
