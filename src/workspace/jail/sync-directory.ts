import {constants} from 'node:fs';
import {errorCode} from '../../system/error-code.ts';
import {closeReader} from './close-reader.ts';
import type {EntryHandle} from './entry-handle.ts';

/** Makes renames and removals in a directory survive a crash, where the system can do that. */
export async function syncDirectory(directory: EntryHandle): Promise<void> {
  try {
    const handle = await directory.reopen(constants.O_RDONLY);
    try {
      await handle.sync();
    } finally {
      await closeReader(handle);
    }
  } catch (error) {
    // A directory that may be written and not read, or a system that does not synchronise directories.
    if (!['EACCES', 'EPERM', 'EISDIR', 'EINVAL', 'ENOTSUP'].includes(errorCode(error) ?? '')) throw error;
  }
}
