// All access to the files of a workspace. It follows no link and never leaves the root.

import {existsSync, realpathSync, unlinkSync} from 'node:fs';
import {resolve} from 'node:path';
import type {Deadline} from '../../core/deadline.ts';
import {fail, ok, type Result} from '../../core/result.ts';
import {errorCode} from '../../system/errors.ts';
import {type EntryInfo, entryInfo, type OpenFile} from '../open-file.ts';
import {fileNotFound, ioFailure, protectedPath, staleRead} from '../refusals.ts';
import {
  parseWorkspacePath,
  parseWritablePath,
  quotePath,
  type WorkspacePath,
  type WritablePath,
} from '../workspace-path.ts';
import {type EntryIdentity, type HoldEntry, handleByDescriptor, handleByName} from './entry-handle.ts';
import {openParent, openPath, openRoot, type RootHandle} from './open-path.ts';
import {ProtectedPaths} from './protected-paths.ts';
import {type OpenDirectory, openJailedDirectory, openJailedFile} from './read-entries.ts';
import {
  type Durability,
  removeDirectory,
  type StagedFile,
  type StageOptions,
  stageFile,
  synchronised,
} from './staged-file.ts';
import {checkTarget, entryVersion, inspectTarget, type Precondition} from './target.ts';

/**
 * W1: the files below one root. Nothing here follows a symbolic link or leaves the root, whatever
 * is swapped while a call runs. Between calls the root is held, and what a caller opened.
 */
export interface Workspace {
  /** The real path that the root had when it was opened. */
  readonly root: string;
  /** Review R4: what the root is. A caller that reaches it by name compares. */
  readonly identity: EntryIdentity;
  /** Whether `root` still leads to it: `io_error` that says so where it does not. */
  readonly verifyRoot: () => Result<undefined>;
  /** Checks what a caller wrote: relative to the root, or absolute inside it. */
  readonly resolve: (path: string) => Result<WorkspacePath>;
  /** The same for a place to write: not the root, nothing in `.git`, nothing that is protected. */
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
  readonly remove: (
    path: WritablePath,
    expected?: Precondition,
    deadline?: Deadline,
  ) => Promise<Result<Durability>>;
  /** Removes a directory if it is empty. */
  readonly removeDirectory: (path: WritablePath) => void;
  /** Lets go of the root. Nothing can be reached any more. */
  readonly close: () => void;
}

export interface WorkspaceOptions {
  /** Review R9: absolute paths of what no tool writes to, there or not, inside or outside. */
  readonly protectedPaths?: readonly string[] | undefined;
  /** Default: by descriptor on Linux, by name elsewhere. */
  readonly holdEntry?: HoldEntry | undefined;
}

/** `root` is the operator's word and may be a link; everything below it may not. To be closed. */
export function openWorkspace(root: string, options: WorkspaceOptions = {}): Result<Workspace> {
  const {holdEntry = process.platform === 'linux' ? handleByDescriptor : handleByName} = options;
  const given = resolve(root);
  try {
    const real = realpathSync(given);
    const opened = openRoot(real, holdEntry);
    return ok(jail({root: opened, holdEntry}, [real, given], options.protectedPaths ?? []));
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    // It is there, but a handle on it leads nowhere: /proc is not mounted.
    if (code === 'ENOENT' && !existsSync(given)) {
      return fail(
        'file_not_found',
        `The workspace ${quotePath(root)} does not exist. Create the directory, or name another one.`,
        {path: root},
      );
    }
    if (code === 'ENOTDIR') {
      return fail(
        'not_a_file',
        `The workspace root ${quotePath(root)} is not a directory. Name a directory.`,
        {path: root, kind: 'file'},
      );
    }
    return fail(
      'io_error',
      `Could not open the workspace ${quotePath(root)}: ${code}. It has to be readable, and /proc mounted on Linux.`,
      {path: root, error: code, operation: 'open'},
    );
  }
}

function jail(
  rootHandle: RootHandle,
  roots: readonly [string, ...string[]],
  protectedPaths: readonly string[],
): Workspace {
  const closed = new ProtectedPaths(roots, protectedPaths, path => identityAt(rootHandle, path));
  return {
    root: rootHandle.root.path,
    identity: rootHandle.root.identity,
    verifyRoot: () => rootHandle.root.verify(),
    resolve: path => parseWorkspacePath(roots, path),
    resolveForWrite: path => {
      const parsed = parseWritablePath(roots, path);
      return parsed.ok && closed.protects(parsed.value) ? protectedPath(path) : parsed;
    },
    inspect: path => {
      const opened = openPath(rootHandle, path);
      if (!opened.ok) return opened;
      opened.value.close();
      return ok(entryInfo(opened.value.stats));
    },
    openFile: path => openJailedFile(rootHandle, path),
    openDirectory: path => openJailedDirectory(rootHandle, path),
    stage: (path, content, options) => stageFile(rootHandle, path, content, options),
    remove: (path, expected, deadline) => removeFile(rootHandle, path, expected, deadline),
    removeDirectory: path => removeDirectory(rootHandle, path),
    close: () => rootHandle.root.close(),
  };
}

function identityAt(rootHandle: RootHandle, path: WorkspacePath): EntryIdentity | undefined {
  const opened = openPath(rootHandle, path);
  if (!opened.ok) return undefined;
  const identity = opened.value.identify();
  opened.value.close();
  return identity;
}

/** Removes a file, if `expected` holds right before (else `stale_read`). */
async function removeFile(
  rootHandle: RootHandle,
  path: WritablePath,
  expected?: Precondition,
  deadline?: Deadline,
): Promise<Result<Durability>> {
  const parent = openParent(rootHandle, path);
  if (!parent.ok) return parent;
  const {directory, name} = parent.value;
  try {
    const present = inspectTarget(rootHandle, parent.value, path);
    if (!present.ok) return present;
    if (present.value === undefined) return fileNotFound(path);
    const checked = await checkTarget(rootHandle, parent.value, path, expected, deadline);
    if (!checked.ok) return checked;
    // W19: the comparison let others run.
    if (checked.value !== undefined && checked.value !== entryVersion(parent.value)) return staleRead(path);
    unlinkSync(`${directory.address}/${name}`);
    return ok(await synchronised(directory));
  } catch (error) {
    return ioFailure(error, path, 'remove');
  } finally {
    directory.close();
  }
}
