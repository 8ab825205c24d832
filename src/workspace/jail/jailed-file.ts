import {constants} from 'node:fs';
import type {FileHandle} from 'node:fs/promises';
import {ok, type Result} from '../../core/result.ts';
import {entryInfo, entryKind} from '../entry-info.ts';
import {ioFailure} from '../io-failure.ts';
import type {OpenFile} from '../open-file.ts';
import {fileNotFound, notAFile, symlinkBlocked} from '../refusals.ts';
import type {WorkspacePath} from '../workspace-path.ts';
import {closeReader} from './close-reader.ts';
import type {Pin} from './pin-entry.ts';
import {type Ground, pinPath} from './pin-path.ts';

/** Opens a regular file for reading; everything else is refused without being opened. */
export async function openJailedFile(ground: Ground, path: WorkspacePath): Promise<Result<OpenFile>> {
  const pinned = pinPath(ground, path);
  if (!pinned.ok) return pinned;
  return openPinnedFile(pinned.value, path);
}

/** The same for an entry that is held already; lets go of it in any case. */
export async function openPinnedFile(pin: Pin | undefined, path: WorkspacePath): Promise<Result<OpenFile>> {
  if (pin === undefined) return fileNotFound(path);
  try {
    const refused = refuseUnlessFile(pin, path);
    if (refused !== undefined) return refused;
    return ok(readableFile(path, await pin.reopen(constants.O_RDONLY), pin));
  } catch (error) {
    return ioFailure(error, path, 'open');
  } finally {
    pin.close();
  }
}

/** W1: links are `symlink_blocked`; directories, devices, FIFOs and sockets are `not_a_file`. */
export function refuseUnlessFile(pin: Pin, path: WorkspacePath): Result<never> | undefined {
  const kind = entryKind(pin.stats);
  if (kind === 'file') return undefined;
  return kind === 'symlink' ? symlinkBlocked(path, path) : notAFile(path, kind);
}

function readableFile(path: WorkspacePath, handle: FileHandle, pin: Pin): OpenFile {
  return {
    path,
    info: entryInfo(pin.stats),
    read: async (into, position) => (await handle.read(into, 0, into.length, position)).bytesRead,
    close: () => closeReader(handle),
  };
}
