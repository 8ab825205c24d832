import {lstat} from 'node:fs/promises';
import {resolve} from 'node:path';
import {expectedErrorCode} from '../../system/error-code.ts';
import {makeDirectories} from '../../system/make-directories.ts';

const WRITABLE_BY_ALL = 0o002;

export type OpenedDirectory = {readonly path: string} | {readonly problem: string};

/** Ruling F5: creates the directory for its owner alone, and says why it cannot be trusted if it cannot. */
export async function openDirectory(directory: string): Promise<OpenedDirectory> {
  const path = resolve(directory);
  try {
    await makeDirectories(path);
    const status = await lstat(path);
    if (status.isSymbolicLink()) return {problem: 'it is a symbolic link'};
    const user = process.getuid?.();
    if (user !== undefined && status.uid !== user) return {problem: 'it belongs to another user'};
    // In /tmp itself, or the like, anybody could leave entries for us to serve.
    if (user !== undefined && status.mode & WRITABLE_BY_ALL) return {problem: 'every user can write to it'};
    return {path};
  } catch (error) {
    return {problem: `it cannot be created (${expectedErrorCode(error)})`};
  }
}
