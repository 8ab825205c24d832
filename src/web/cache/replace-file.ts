import {constants} from 'node:fs';
import {copyFile, rename, rm, writeFile} from 'node:fs/promises';
import {dirname, extname} from 'node:path';
import {randomHex} from '../../core/random.ts';
import {expectedErrorCode} from '../../system/error-code.ts';
import {makeDirectories} from '../../system/make-directories.ts';

interface ReplaceOptions {
  /** Asked at the last moment; on false nothing is replaced. */
  readonly still?: () => Promise<boolean>;
  /** The system's, unless a test has one that fails. */
  readonly rename?: typeof rename;
}

/**
 * FR-WF-16g: atomic replacement, false if `still` prevented it. The file holds the old bytes or the new ones, whatever happens in between; files are 0600
 * (ruling F7). Nothing is flushed to the disk: after a power cut an entry may be empty or gone, which is
 * a miss, and a cache is not worth a disk flush at every hit. Throws what the file system says.
 */
export async function replaceFile(
  path: string,
  bytes: Uint8Array,
  {still, rename: move = rename}: ReplaceOptions = {},
): Promise<boolean> {
  const temporary = `${path.slice(0, -extname(path).length)}.tmp.${randomHex(8)}`;
  try {
    await create(temporary, bytes);
    if (still && !(await still())) {
      await rm(temporary, {force: true});
      return false;
    }
    try {
      await move(temporary, path);
    } catch (error) {
      if (expectedErrorCode(error) !== 'EXDEV') throw error;
      // Some mounted file systems cannot rename even within a directory. Without COPYFILE_EXCL a copy
      // would write through a symbolic link.
      await rm(path, {force: true});
      await copyFile(temporary, path, constants.COPYFILE_EXCL);
      await rm(temporary, {force: true});
    }
    return true;
  } catch (error) {
    await rm(temporary, {force: true}).catch(() => {});
    throw error;
  }
}

async function create(path: string, bytes: Uint8Array): Promise<void> {
  const options = {flag: 'wx', mode: 0o600};
  try {
    await writeFile(path, bytes, options);
  } catch (error) {
    if (expectedErrorCode(error) !== 'ENOENT') throw error;
    await makeDirectories(dirname(path));
    await writeFile(path, bytes, options);
  }
}
