import {closeSync, fstatSync, readSync} from 'node:fs';
import {ok, type Result} from '../../core/result.ts';
import {entryKind} from '../entry-info.ts';
import {ioFailure} from '../io-failure.ts';
import {notAFile} from '../refusals.ts';
import type {WorkspacePath} from '../workspace-path.ts';
import type {EntryHandle} from './entry-handle.ts';

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
