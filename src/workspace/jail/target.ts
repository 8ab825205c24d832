// Checks what lies at a path right before it is replaced or removed.

import {accessSync, constants, lstatSync} from 'node:fs';
import type {Deadline} from '../../core/deadline.ts';
import {type Brand, ok, type Result} from '../../core/result.ts';
import {type ContentHash, type EntryInfo, entryInfo, hashOpenFile} from '../open-file.ts';
import {ioFailure, notAFile, staleRead} from '../refusals.ts';
import type {WritablePath} from '../workspace-path.ts';
import {openChild, type ParentHandle, type RootHandle} from './open-path.ts';
import {openHeldFile, refuseUnlessFile} from './read-entries.ts';

/** What must lie at a path for a write to go ahead: a file with this content, or nothing. */
export type Precondition = ContentHash | 'absent';

/**
 * What lies where something is to be replaced or removed; undefined for nothing. Refused is all
 * but a file with one name (W1) that this process may write: renaming over a file would bypass
 * the protection that its mode gives it.
 */
export function inspectTarget(
  rootHandle: RootHandle,
  parent: ParentHandle,
  path: WritablePath,
): Result<EntryInfo | undefined> {
  try {
    const entryHandle = openChild(rootHandle, parent.directory, parent.name);
    if (entryHandle === undefined) return ok(undefined);
    try {
      const refused = refuseUnlessFile(entryHandle, path);
      if (refused !== undefined) return refused;
      if (entryHandle.stats.nlink > 1) return notAFile(path, 'hard_linked');
      accessSync(entryHandle.address, constants.W_OK);
      return ok(entryInfo(entryHandle.stats));
    } finally {
      entryHandle.close();
    }
  } catch (error) {
    return ioFailure(error, path, 'write');
  }
}

/**
 * The same, and the content is as expected: `stale_read` where it is not. The value is the version that was
 * compared, undefined where nothing was expected: comparing takes its time, so whoever replaces or removes the
 * entry asks for its version once more in the same tick.
 */
export async function checkTarget(
  rootHandle: RootHandle,
  parent: ParentHandle,
  path: WritablePath,
  expected: Precondition | undefined,
  deadline?: Deadline,
): Promise<Result<EntryVersion | undefined>> {
  const target = inspectTarget(rootHandle, parent, path);
  if (!target.ok) return target;
  if (expected === undefined) return ok(undefined);
  try {
    const version = entryVersion(parent);
    if (target.value === undefined) return expected === 'absent' ? ok(version) : staleRead(path);
    if (expected === 'absent') return staleRead(path);
    const file = await openHeldFile(openChild(rootHandle, parent.directory, parent.name), path);
    if (!file.ok) return file;
    try {
      const hash = await hashOpenFile(file.value, deadline);
      if (!hash.ok) return hash;
      return hash.value === expected ? ok(version) : staleRead(path);
    } finally {
      await file.value.close();
    }
  } catch (error) {
    return ioFailure(error, path, 'read');
  }
}

/** Which entry lies under a name, and its last change; equal for nothing and nothing. */
type EntryVersion = Brand<string, 'EntryVersion'>;

/**
 * Changes with every write, rename and change of mode. Synchronous: what is done with the entry in the same tick
 * meets this version, whatever else this process does.
 */
export function entryVersion({directory, name}: ParentHandle): EntryVersion {
  const stats = lstatSync(`${directory.address}/${name}`, {bigint: true, throwIfNoEntry: false});
  if (stats === undefined) return 'absent' as EntryVersion;
  const {dev, ino, size, mtimeNs, ctimeNs} = stats;
  return [dev, ino, size, mtimeNs, ctimeNs].join(':') as EntryVersion;
}
