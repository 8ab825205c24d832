// Makes directories, and checks that one belongs to this user alone.
import {lstatSync, mkdirSync} from 'node:fs';
import {mkdir, stat} from 'node:fs/promises';
import {dirname} from 'node:path';
import {errorCode} from './errors.ts';

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

/** Why a directory cannot hold what only its owner may change. */
export type Foreign = 'not_a_directory' | 'other_owner' | 'writable_by_others';

/**
 * Makes a directory (0700) where it is missing, and says what keeps it from being ours: a link, another
 * owner, or others who may write there. Undefined where nothing does. Throws what the system throws.
 */
export function makeOwnDirectory(path: string): Foreign | undefined {
  mkdirSync(path, {recursive: true, mode: 0o700});
  const info = lstatSync(path);
  if (!info.isDirectory()) return 'not_a_directory';
  const self = process.getuid?.();
  if (self === undefined) return undefined;
  if (info.uid !== self) return 'other_owner';
  return (info.mode & 0o022) === 0 ? undefined : 'writable_by_others';
}
