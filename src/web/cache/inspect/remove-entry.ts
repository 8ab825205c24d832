import {lstat, unlink} from 'node:fs/promises';
import {expectedErrorCode} from '../../../system/error-code.ts';
import type {ScannedEntry} from './scan-entries.ts';

/**
 * Removes an entry that was looked at, unless another process has replaced it since: that one is a new
 * page. `refused` if the file system does not let it go.
 */
export async function removeEntry({
  path,
  inode,
  changedMs,
}: ScannedEntry): Promise<'removed' | 'kept' | 'refused'> {
  try {
    const now = await lstat(path);
    // Without an inode it could not be read; then whatever stands there is what was meant.
    if (inode !== 0 && (now.ino !== inode || now.mtimeMs !== changedMs)) return 'kept';
    await unlink(path);
    return 'removed';
  } catch (error) {
    return expectedErrorCode(error) === 'ENOENT' ? 'kept' : 'refused';
  }
}
