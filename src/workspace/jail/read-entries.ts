// Opens files and directories of a workspace for reading.
import {closeSync, constants, fstatSync, readdirSync, readSync} from 'node:fs';
import {type FileHandle, readdir} from 'node:fs/promises';
import {ok, type Result} from '../../core/result.ts';
import {type EntryKind, entryInfo, entryKind, type OpenFile} from '../open-file.ts';
import {attempt, fileNotFound, ioFailure, notADirectory, notAFile, symlinkBlocked} from '../refusals.ts';
import {childPath, type WorkspacePath} from '../workspace-path.ts';
import {closeReader, type EntryHandle} from './entry-handle.ts';
import {openChild, openPath, type RootHandle} from './open-path.ts';

export interface DirectoryEntry {
  readonly name: string;
  readonly kind: EntryKind;
}

/** A directory that is held open: what is reached through it stays below it. Close it. */
export interface OpenDirectory {
  readonly path: WorkspacePath;
  /** In no order. Names that are not UTF-8 have no path here and are left out. */
  readonly entries: () => Promise<Result<readonly DirectoryEntry[]>>;
  /** `name` is that of an entry. */
  readonly openDirectory: (name: string) => Result<OpenDirectory>;
  readonly openFile: (name: string) => Promise<Result<OpenFile>>;
  /** Reads a regular file that is smaller than `into`: its bytes, undefined for a larger one. */
  readonly readSmallFile: (name: string, into: Uint8Array) => Result<number | undefined>;
  readonly close: () => void;
}

export function openJailedDirectory(rootHandle: RootHandle, path: WorkspacePath): Result<OpenDirectory> {
  const opened = openPath(rootHandle, path);
  return opened.ok ? holdDirectory(rootHandle, opened.value, path) : opened;
}

function holdDirectory(
  rootHandle: RootHandle,
  entryHandle: EntryHandle,
  path: WorkspacePath,
): Result<OpenDirectory> {
  if (!entryHandle.stats.isDirectory()) {
    entryHandle.close();
    return entryKind(entryHandle.stats) === 'symlink' ? symlinkBlocked(path, path) : notADirectory(path);
  }
  return ok({
    path,
    entries: () => attempt(path, 'list', () => readEntries(entryHandle)),
    openDirectory: name => {
      const child = childPath(path, name);
      try {
        const entry = openChild(rootHandle, entryHandle, name);
        return entry === undefined ? fileNotFound(child) : holdDirectory(rootHandle, entry, child);
      } catch (error) {
        return ioFailure(error, child, 'open');
      }
    },
    openFile: async name => {
      const child = childPath(path, name);
      try {
        return await openHeldFile(openChild(rootHandle, entryHandle, name), child);
      } catch (error) {
        return ioFailure(error, child, 'open');
      }
    },
    readSmallFile: (name, into) => readSmallFile(entryHandle, name, childPath(path, name), into),
    close: entryHandle.close,
  });
}

/** Bytes of a directory that is read at once; entries have 12 bytes and their name at least in most file systems. */
const SMALL_DIRECTORY_BYTES = 64 * 1024;

async function readEntries({address, stats}: EntryHandle): Promise<DirectoryEntry[]> {
  // A trip through the thread pool costs several times as much as reading a small directory.
  const isSmall = stats.size <= SMALL_DIRECTORY_BYTES;
  const options = {withFileTypes: true} as const;
  const read = isSmall ? readdirSync(address, options) : await readdir(address, options);
  if (!read.some(entry => entry.name.includes('\uFFFD'))) {
    return read.map(entry => ({name: entry.name, kind: entryKind(entry)}));
  }
  // Either a name has that character, or it is not UTF-8 and Node put the character there.
  const entries: DirectoryEntry[] = [];
  for (const entry of await readdir(address, {withFileTypes: true, encoding: 'buffer'})) {
    const name = entry.name.toString();
    if (Buffer.from(name).equals(entry.name)) entries.push({name, kind: entryKind(entry)});
  }
  return entries;
}

/** Opens a regular file for reading; everything else is refused without being opened. */
export async function openJailedFile(rootHandle: RootHandle, path: WorkspacePath): Promise<Result<OpenFile>> {
  const opened = openPath(rootHandle, path);
  if (!opened.ok) return opened;
  return openHeldFile(opened.value, path);
}

/** The same for an entry that is held already; lets go of it in any case. */
export async function openHeldFile(
  entryHandle: EntryHandle | undefined,
  path: WorkspacePath,
): Promise<Result<OpenFile>> {
  if (entryHandle === undefined) return fileNotFound(path);
  try {
    const refused = refuseUnlessFile(entryHandle, path);
    if (refused !== undefined) return refused;
    return ok(readableFile(path, await entryHandle.reopen(constants.O_RDONLY), entryHandle));
  } catch (error) {
    return ioFailure(error, path, 'open');
  } finally {
    entryHandle.close();
  }
}

/** W1: links are `symlink_blocked`; directories, devices, FIFOs and sockets are `not_a_file`. */
export function refuseUnlessFile(entryHandle: EntryHandle, path: WorkspacePath): Result<never> | undefined {
  const kind = entryKind(entryHandle.stats);
  if (kind === 'file') return undefined;
  return kind === 'symlink' ? symlinkBlocked(path, path) : notAFile(path, kind);
}

function readableFile(path: WorkspacePath, handle: FileHandle, entryHandle: EntryHandle): OpenFile {
  return {
    path,
    info: entryInfo(entryHandle.stats),
    read: async (into, position) => (await handle.read(into, 0, into.length, position)).bytesRead,
    close: () => closeReader(handle),
  };
}

/**
 * Reads a regular file of a directory that is held, if it is smaller than `into`: how many bytes it has,
 * undefined for a larger one. At once, without the thread pool: a search reads thousands of small files,
 * and each trip costs several times as much as the reading.
 */
export function readSmallFile(
  directory: EntryHandle,
  name: string,
  path: WorkspacePath,
  into: Uint8Array,
): Result<number | undefined> {
  let descriptor: number | undefined;
  try {
    descriptor = directory.openEntry(name);
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return notAFile(path, entryKind(stats));
    return ok(stats.size < into.length ? readToEnd(descriptor, into, stats.size) : undefined);
  } catch (error) {
    return ioFailure(error, path, 'read');
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Undefined where it is larger than it said: it grows, or is one of those of /proc that say 0. */
function readToEnd(descriptor: number, into: Uint8Array, size: number): number | undefined {
  for (let length = 0; length < into.length; ) {
    const read = readSync(descriptor, into, length, into.length - length, null);
    length += read;
    if (read === 0 || length === size) return length;
  }
  return undefined;
}
