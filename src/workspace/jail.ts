import {realpathSync, statSync} from 'node:fs';
import {resolve} from 'node:path';
import {fail} from '../core/failure.ts';
import {ok, type Result} from '../core/result.ts';
import type {Deadline} from './deadline.ts';
import {type EntryInfo, entryInfo} from './entry-info.ts';
import {errorCode} from './io-failure.ts';
import {type OpenDirectory, openJailedDirectory} from './jailed-directory.ts';
import {openJailedFile} from './jailed-file.ts';
import {moveFile, removeFile} from './move-file.ts';
import type {OpenFile} from './open-file.ts';
import {type PinEntry, pinByDescriptor, pinByName} from './pin-entry.ts';
import {type Ground, pinParent, pinPath} from './pin-path.ts';
import {fileNotFound} from './refusals.ts';
import {removeDirectory, type StagedFile, type StageOptions, stageFile} from './staged-file.ts';
import {
  parseWorkspacePath,
  parseWritablePath,
  quotePath,
  type WorkspacePath,
  type WritablePath,
} from './workspace-path.ts';
import type {Precondition} from './write-target.ts';

/**
 * W1: the files below one root. Nothing here follows a symbolic link or leaves the root, whatever
 * is swapped while a call runs; nothing is held open between calls but what a caller opened.
 */
export interface Workspace {
  /** The real path of the root. */
  readonly root: string;
  /** Checks what a caller wrote: relative to the root, or absolute inside it. */
  readonly resolve: (path: string) => Result<WorkspacePath>;
  /** The same for a place to write: not the root, nothing in `.git`. */
  readonly resolveForWrite: (path: string) => Result<WritablePath>;
  /** What lies there, a link included. `file_not_found` for nothing. */
  readonly inspect: (path: WorkspacePath) => Result<EntryInfo>;
  readonly openFile: (path: WorkspacePath) => Promise<Result<OpenFile>>;
  /** `file_not_found` where it is not a directory. */
  readonly openDirectory: (path: WorkspacePath) => Result<OpenDirectory>;
  /** Writes content beside its target, making directories on the way. */
  readonly stage: (
    path: WritablePath,
    content: Uint8Array,
    options?: StageOptions,
  ) => Promise<Result<StagedFile>>;
  /** Renames a file, over another one if there is one. The directory of `to` must exist. */
  readonly move: (from: WritablePath, to: WritablePath) => Promise<Result<undefined>>;
  readonly remove: (
    path: WritablePath,
    expected?: Precondition,
    deadline?: Deadline,
  ) => Promise<Result<undefined>>;
  /** Makes the directories above `path`; those that were missing, outermost first. */
  readonly makeParents: (path: WritablePath) => Result<readonly WritablePath[]>;
  /** Removes a directory if it is empty. */
  readonly removeDirectory: (path: WritablePath) => void;
}

/** `root` is the operator's word and may be a link; everything below it may not. */
export function openWorkspace(
  root: string,
  pinEntry: PinEntry = process.platform === 'linux' ? pinByDescriptor : pinByName,
): Result<Workspace> {
  const given = resolve(root);
  try {
    const real = realpathSync(given);
    if (!statSync(real).isDirectory()) {
      return fail(
        'not_a_file',
        `The workspace root ${quotePath(root)} is not a directory. Name a directory.`,
        {
          path: root,
          kind: 'file',
        },
      );
    }
    const pin = pinEntry(real);
    try {
      pinEntry(`${pin.address}/.`).close();
    } finally {
      pin.close();
    }
    return ok(jail({root: real, pinEntry}, [real, given]));
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    if (code === 'ENOENT') return fileNotFound(root);
    return fail(
      'io_error',
      `Could not open the workspace ${quotePath(root)}: ${code}. It has to be readable, and /proc mounted on Linux.`,
      {path: root, error: code, operation: 'open'},
    );
  }
}

function jail(ground: Ground, roots: readonly [string, ...string[]]): Workspace {
  return {
    root: ground.root,
    resolve: path => parseWorkspacePath(roots, path),
    resolveForWrite: path => parseWritablePath(roots, path),
    inspect: path => {
      const pinned = pinPath(ground, path);
      if (!pinned.ok) return pinned;
      pinned.value.close();
      return ok(entryInfo(pinned.value.stats));
    },
    openFile: path => openJailedFile(ground, path),
    openDirectory: path => openJailedDirectory(ground, path),
    stage: (path, content, options) => stageFile(ground, path, content, options),
    move: (from, to) => moveFile(ground, from, to),
    remove: (path, expected, deadline) => removeFile(ground, path, expected, deadline),
    makeParents: path => {
      const parent = pinParent(ground, path, true);
      if (!parent.ok) return parent;
      parent.value.directory.close();
      return ok(parent.value.created);
    },
    removeDirectory: path => removeDirectory(ground, path),
  };
}
