import {lstat, readdir, rm} from 'node:fs/promises';
import {join} from 'node:path';
import type {Clock} from '../../core/clock.ts';
import {errorCode} from '../../system/error-code.ts';

/** No call takes as long as this, so what is older was left by a process that was killed. */
const STALE_MS = 3_600_000;
/** Private copies for GNU patch, and lock files that were never put in place. */
const SCRATCH = /^patch-|\.draft$/;

/** Removes what killed processes left in the state directory, beside journals. Best effort. */
export async function removeLeftovers(directory: string, clock: Clock): Promise<void> {
  try {
    for (const name of await readdir(directory)) {
      if (!SCRATCH.test(name)) continue;
      const path = join(directory, name);
      const {mtimeMs} = await lstat(path);
      if (clock.now() - mtimeMs > STALE_MS) await rm(path, {recursive: true, force: true});
    }
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
  }
}
