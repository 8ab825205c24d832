import {readdirSync} from 'node:fs';
import {readdir} from 'node:fs/promises';
import {ok, type Result} from '../../core/result.ts';
import {type EntryKind, entryKind} from '../entry-info.ts';
import {attempt, ioFailure} from '../io-failure.ts';
import type {OpenFile} from '../open-file.ts';
import {fileNotFound, notADirectory, symlinkBlocked} from '../refusals.ts';
import {childPath, type WorkspacePath} from '../workspace-path.ts';
import type {EntryHandle} from './entry-handle.ts';
import {openHeldFile} from './jailed-file.ts';
import {openChild, openPath, type RootHandle} from './open-path.ts';
import {readSmallFile} from './read-small-file.ts';

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
