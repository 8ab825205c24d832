import {constants} from 'node:fs';
import {type FileHandle, open} from 'node:fs/promises';

/** Neither follows a symbolic link nor waits for the other end of a pipe. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export interface FileContent {
  readonly bytes: Buffer;
  /** Of the whole file. */
  readonly size: number;
  /** Tell this file from one that has replaced it. */
  readonly inode: number;
  readonly changedMs: number;
}

/**
 * The first `maxBytes` of a regular file; `undefined` if it is no regular file. Throws what the file
 * system says.
 */
export async function readFile(path: string, maxBytes: number): Promise<FileContent | undefined> {
  const file = await open(path, FLAGS);
  try {
    const status = await file.stat();
    if (!status.isFile()) return undefined;
    const bytes = await readFully(file, Math.min(status.size, maxBytes));
    return {bytes, size: status.size, inode: status.ino, changedMs: status.mtimeMs};
  } finally {
    await file.close();
  }
}

async function readFully(file: FileHandle, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const {bytesRead} = await file.read(bytes, filled, length - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}
