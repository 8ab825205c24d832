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
 * A regular file of ours, or of one that is larger than `maxBytes` nothing but its size, or its head.
 * `undefined` if it is no regular file, or another process's: who may write to the directory, as the members
 * of a group may, could leave pages for us to serve (ruling F5). Throws what the file system says.
 */
export async function readFile(
  path: string,
  maxBytes: number,
  larger: 'skip' | 'head' = 'skip',
): Promise<FileContent | undefined> {
  const file = await open(path, FLAGS);
  try {
    const status = await file.stat();
    if (!status.isFile() || status.uid !== (process.getuid?.() ?? status.uid)) return undefined;
    const {size} = status;
    const bytes = await readFully(file, size <= maxBytes ? size : larger === 'head' ? maxBytes : 0);
    return {bytes, size, inode: status.ino, changedMs: status.mtimeMs};
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
