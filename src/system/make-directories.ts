import {mkdir, stat} from 'node:fs/promises';
import {dirname} from 'node:path';
import {errorCode} from './error-code.ts';

/**
 * Makes a directory and those above it that are missing, for their owner alone. Node's own `recursive` never
 * ends below /proc, where a parent that is there says that it is not.
 */
export async function makeDirectories(path: string): Promise<void> {
  const missing: string[] = [];
  for (let place = path; ; place = dirname(place)) {
    const problem = await makeOne(place);
    if (problem === undefined) break;
    if (errorCode(problem) !== 'ENOENT' || dirname(place) === place) throw problem;
    missing.push(place);
  }
  for (const place of missing.reverse()) {
    const problem = await makeOne(place);
    if (problem !== undefined) throw problem;
  }
}

/** What keeps the directory from being there afterwards. */
async function makeOne(path: string): Promise<unknown> {
  try {
    await mkdir(path, 0o700);
    return undefined;
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') return error;
    return (await stat(path)).isDirectory() ? undefined : error;
  }
}
