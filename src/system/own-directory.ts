import {lstatSync, mkdirSync} from 'node:fs';

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
