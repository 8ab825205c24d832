import type {Stats} from 'node:fs';
import type {Owner} from './owner.ts';

export type EntryKind = 'file' | 'directory' | 'symlink' | 'fifo' | 'socket' | 'device';

/** What lies at a path; a symbolic link is described, never followed. */
export interface EntryInfo {
  readonly kind: EntryKind;
  /** Bytes. */
  readonly size: number;
  /** Permission bits, `0o777` at most. */
  readonly mode: number;
  /** Hard links to it. */
  readonly links: number;
  /** Of an entry on disk. */
  readonly owner?: Owner;
}

/** `Stats` and `Dirent` both answer these. */
interface Typed {
  readonly isFile: () => boolean;
  readonly isDirectory: () => boolean;
  readonly isSymbolicLink: () => boolean;
  readonly isFIFO: () => boolean;
  readonly isSocket: () => boolean;
}

export function entryKind(entry: Typed): EntryKind {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  if (entry.isSymbolicLink()) return 'symlink';
  if (entry.isFIFO()) return 'fifo';
  return entry.isSocket() ? 'socket' : 'device';
}

export function entryInfo(stats: Stats): EntryInfo {
  return {
    kind: entryKind(stats),
    size: stats.size,
    mode: stats.mode & 0o777,
    links: stats.nlink,
    owner: {uid: stats.uid, gid: stats.gid},
  };
}
