// Replaces a file in one step, and makes that survive a power failure.
import {constants, type Stats} from 'node:fs';
import {copyFile, type FileHandle, open, rename, rm, unlink} from 'node:fs/promises';
import {dirname} from 'node:path';
import {randomHex} from '../core/clock.ts';
import {errorCode} from './errors.ts';

export interface ReplaceOptions {
  /** Permission bits; the umask takes its part. By default the file is its owner's alone. */
  readonly mode?: number;
  /** A file whose permission bits, owner and group the new one gets, as far as the system lets us. */
  readonly like?: Pick<Stats, 'mode' | 'uid' | 'gid'> | undefined;
  /** Returns when a power failure brings back the old file no more. */
  readonly durable?: boolean;
  /** A name on the same file system where the content is written first; by default beside `path`. */
  readonly temporary?: string;
  /** Asked right before; on false nothing is replaced. */
  readonly still?: () => Promise<boolean>;
  /** Where the file system cannot rename: the file is gone for a moment and then copied, never through a link. */
  readonly orCopy?: boolean;
  /** The system's, unless a test has one that fails. */
  readonly rename?: typeof rename;
}

/**
 * Replaces or creates a file in one step: there is the old content or the new one, whole, whatever happens
 * in between. Follows no link. False if `still` prevented it. Throws what the system throws, and then leaves nothing of its own.
 */
export async function replaceFile(
  path: string,
  content: Uint8Array | string | readonly (Uint8Array | string)[],
  options: ReplaceOptions = {},
): Promise<boolean> {
  const {mode = 0o600, like, durable = false, temporary = `${path}.${randomHex(6)}.tmp`, still} = options;
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
  const handle = await open(temporary, flags, mode);
  try {
    try {
      const parts = typeof content === 'string' || content instanceof Uint8Array ? [content] : content;
      for (const part of parts) await handle.writeFile(part);
      if (like !== undefined) await makeLike(handle, like);
      if (durable) await handle.sync();
    } finally {
      await handle.close();
    }
    if (still !== undefined && !(await still())) {
      await unlink(temporary);
      return false;
    }
    await put(temporary, path, options);
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw error;
  }
  if (durable) await syncDirectoryOf(path);
  return true;
}

/** The owner first, as a change of it takes bits away. */
async function makeLike(
  handle: FileHandle,
  {mode, uid, gid}: NonNullable<ReplaceOptions['like']>,
): Promise<void> {
  const now = await handle.stat();
  if (now.uid !== uid || now.gid !== gid) {
    await handle.chown(uid, gid).catch((error: unknown) => {
      if (errorCode(error) !== 'EPERM') throw error;
    });
  }
  await handle.chmod(mode & 0o777);
}

async function put(
  temporary: string,
  path: string,
  {orCopy = false, rename: move = rename}: ReplaceOptions,
): Promise<void> {
  try {
    await move(temporary, path);
  } catch (error) {
    if (!orCopy || errorCode(error) !== 'EXDEV') throw error;
    // Without COPYFILE_EXCL a copy would write through a symbolic link.
    await rm(path, {force: true});
    await copyFile(temporary, path, constants.COPYFILE_EXCL);
    await unlink(temporary);
  }
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
