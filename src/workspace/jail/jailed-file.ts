import {constants} from 'node:fs';
import type {FileHandle} from 'node:fs/promises';
import {ok, type Result} from '../../core/result.ts';
import {entryInfo, entryKind} from '../entry-info.ts';
import {ioFailure} from '../io-failure.ts';
import type {OpenFile} from '../open-file.ts';
import {fileNotFound, notAFile, symlinkBlocked} from '../refusals.ts';
import type {WorkspacePath} from '../workspace-path.ts';
import {closeReader} from './close-reader.ts';
import type {EntryHandle} from './entry-handle.ts';
import {openPath, type RootHandle} from './open-path.ts';

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
