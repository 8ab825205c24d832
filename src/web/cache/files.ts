// Files of the cache: trusted directory, safe read, atomic replace, locks by key, paths.

import {createHash} from 'node:crypto';
import {constants} from 'node:fs';
import {type FileHandle, lstat, open} from 'node:fs/promises';
import {dirname, extname, join, resolve} from 'node:path';
import {randomHex} from '../../core/clock.ts';
import {makeDirectories} from '../../system/directories.ts';
import {expectedErrorCode} from '../../system/errors.ts';
import {type ReplaceOptions, replaceFile as replace} from '../../system/replace-file.ts';
import type {RenderingMethod} from '../page.ts';

const WRITABLE_BY_ALL = 0o002;

type OpenedDirectory = {readonly path: string} | {readonly problem: string};

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

/** Lets one piece of work at a time touch what a key stands for; the others wait in turn. */
export class KeyedLock {
  readonly #last = new Map<string, Promise<void>>();

  async hold<Value>(key: string, work: () => Promise<Value>): Promise<Value> {
    const result = (this.#last.get(key) ?? Promise.resolve()).then(work);
    const over = result.then(
      () => {},
      () => {},
    );
    this.#last.set(key, over);
    try {
      return await result;
    } finally {
      if (this.#last.get(key) === over) this.#last.delete(key);
    }
  }
}

/** FR-WF-16a, FR-WF-16b: nothing but digits of the key becomes part of a path. */
export function entryPath(directory: string, key: string): string {
  return join(directory, key.slice(0, 2), `${key}.json`);
}

/** FR-WF-16, FR-WF-CCH-KEY-02: 64 lower-case hexadecimal digits. `url` is a canonical URL. */
export function cacheKey(url: string, method: RenderingMethod): string {
  return createHash('sha256').update(`${url}\n${method}`, 'utf8').digest('hex');
}
