import type {WritablePath} from '../../workspace-path.ts';
import {type FileChange, type FileState, withExecutable} from '../file-change.ts';

/** A path of the overlay, before the patch and after the sections so far; undefined for no file. */
export interface OverlayEntry {
  readonly path: WritablePath;
  readonly original: FileState | undefined;
  readonly current: FileState | undefined;
  /** Where the content of `current` lay before the patch. */
  readonly origin: WritablePath | undefined;
}

/**
 * What differs in the end. A content that has moved from a path that is free now to one that was free
 * before is a rename, however many sections that took; each path is in one change.
 */
export function netChanges(entries: ReadonlyMap<WritablePath, OverlayEntry>): FileChange[] {
  const moved = new Map<WritablePath, OverlayEntry>();
  for (const entry of entries.values()) {
    const source = entry.origin === undefined ? undefined : entries.get(entry.origin);
    const isMove = source !== undefined && source !== entry && source.current === undefined;
    if (isMove && entry.original === undefined) moved.set(source.path, entry);
  }
  const changes: FileChange[] = [];
  for (const entry of entries.values()) {
    const {path, original: old, current} = entry;
    if (current === undefined) {
      if (old !== undefined && !moved.has(path)) changes.push({kind: 'delete', path, old});
    } else if (old !== undefined) {
      const mode = current.mode ?? withExecutable(old.mode, false);
      if (old.content === current.content && old.mode === mode) continue;
      changes.push({kind: 'modify', path, old, new: {content: current.content, mode}});
    } else {
      const from = entry.origin === undefined ? undefined : entries.get(entry.origin);
      if (from?.original !== undefined && moved.get(from.path) === entry) {
        changes.push({kind: 'rename', path, from: from.path, old: from.original, new: current});
      } else changes.push({kind: 'create', path, new: current});
    }
  }
  return changes;
}
