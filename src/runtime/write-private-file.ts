import {constants} from 'node:fs';
import {open, rename, unlink} from 'node:fs/promises';
import {randomHex} from '../core/random.ts';

/** Replaces or creates a file in one step, readable by its owner only. Throws what the system throws. */
export async function writePrivateFile(path: string, content: Uint8Array | string): Promise<void> {
  const temporary = `${path}.${randomHex(6)}.tmp`;
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const handle = await open(temporary, flags, 0o600);
  try {
    try {
      await handle.writeFile(content);
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw error;
  }
}
