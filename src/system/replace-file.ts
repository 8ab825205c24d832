import {constants} from 'node:fs';
import {open, rename, unlink} from 'node:fs/promises';
import {dirname} from 'node:path';
import {randomHex} from '../core/random.ts';
import {errorCode} from './error-code.ts';

export interface ReplaceOptions {
  /** Permission bits; the umask takes its part. By default the file is its owner's alone. */
  readonly mode?: number;
  /** Returns when a power failure brings back the old file no more. */
  readonly durable?: boolean;
  /** A name on the same file system where the content is written first; by default beside `path`. */
  readonly temporary?: string;
}

/**
 * Replaces or creates a file in one step: there is the old content or the new one, whole, whatever happens
 * in between. Follows no link. Throws what the system throws, and then leaves nothing of its own.
 */
export async function replaceFile(
  path: string,
  content: Uint8Array | string | readonly (Uint8Array | string)[],
  {mode = 0o600, durable = false, temporary = `${path}.${randomHex(6)}.tmp`}: ReplaceOptions = {},
): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
  const handle = await open(temporary, flags, mode);
  try {
    try {
      const parts = typeof content === 'string' || content instanceof Uint8Array ? [content] : content;
      for (const part of parts) await handle.writeFile(part);
      if (durable) await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw error;
  }
  if (durable) await syncDirectoryOf(path);
}

/** Makes renames and removals beside `path` survive a power failure. */
export async function syncDirectoryOf(path: string): Promise<void> {
  // Windows has no handles on directories; its renames are journaled by the file system.
  if (process.platform === 'win32') return;
  const handle = await open(dirname(path), 'r');
  try {
    await handle.sync();
  } catch (error) {
    // Some file systems do not synchronise directories.
    if (!['EINVAL', 'ENOTSUP', 'EISDIR'].includes(errorCode(error) ?? '')) throw error;
  } finally {
    await handle.close();
  }
}
