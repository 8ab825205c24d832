import {dirname, extname} from 'node:path';
import {randomHex} from '../../core/random.ts';
import {expectedErrorCode} from '../../system/error-code.ts';
import {makeDirectories} from '../../system/make-directories.ts';
import {type ReplaceOptions, replaceFile as replace} from '../../system/replace-file.ts';

/**
 * FR-WF-16g: atomic replacement of a file of the cache, false if `still` prevented it; files are 0600 (ruling F7),
 * and their directory is made where it is missing. Nothing is flushed to the disk: after a power cut an entry may
 * be empty or gone, which is a miss, and a cache is not worth a disk flush at every hit. Some mounted file
 * systems cannot rename even within a directory. Throws what the file system says.
 */
export async function replaceFile(
  path: string,
  bytes: Uint8Array | readonly Uint8Array[],
  options: Pick<ReplaceOptions, 'still' | 'rename'> = {},
): Promise<boolean> {
  const temporary = `${path.slice(0, -extname(path).length)}.tmp.${randomHex(8)}`;
  const attempt = (): Promise<boolean> => replace(path, bytes, {...options, temporary, orCopy: true});
  try {
    return await attempt();
  } catch (error) {
    if (expectedErrorCode(error) !== 'ENOENT') throw error;
    await makeDirectories(dirname(path));
    return attempt();
  }
}
