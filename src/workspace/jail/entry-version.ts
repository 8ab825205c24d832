import {lstatSync} from 'node:fs';
import type {Brand} from '../../core/brand.ts';
import type {ParentHandle} from './open-path.ts';

/** Which entry lies under a name, and its last change; equal for nothing and nothing. */
export type EntryVersion = Brand<string, 'EntryVersion'>;

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
