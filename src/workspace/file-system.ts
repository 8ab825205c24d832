import type {Result} from '../core/result.ts';
import type {Deadline} from './deadline.ts';
import type {EntryInfo} from './entry-info.ts';
import type {Precondition} from './jail/write-target.ts';
import type {OpenFile, ReadFileOptions} from './open-file.ts';
import type {WorkspacePath, WritablePath} from './workspace-path.ts';

export interface WriteFileOptions {
  /** What must be there right before the write; else `stale_read`, and nothing is written. */
  readonly expected?: Precondition | undefined;
  /** Permission bits; without it an existing file keeps its own. */
  readonly mode?: number | undefined;
  readonly deadline?: Deadline | undefined;
}

/**
 * The port (ADR 08) between the file tools and where files are. `jailedFileSystem` is the one on
 * disk, `InMemoryFileSystem` the one for tests; `test/contracts/file-system.ts` holds both to it.
 */
export interface FileSystem {
  /** Checks what a caller wrote: relative to the root, or absolute inside it. */
  readonly resolve: (path: string) => Result<WorkspacePath>;
  /** The same for a place to write: not the root, nothing in `.git`. */
  readonly resolveForWrite: (path: string) => Result<WritablePath>;
  /** What an entry is, its size and its times. */
  readonly stat: (path: WorkspacePath) => Promise<Result<EntryInfo>>;
  /** All regular files below a directory, by path, bytewise order; nothing in `.git`, no links. */
  readonly listFiles: (
    directory: WorkspacePath,
    deadline?: Deadline,
  ) => Promise<Result<readonly WorkspacePath[]>>;
  /** Opens a regular file for reading. To be closed. */
  readonly openFile: (path: WorkspacePath) => Promise<Result<OpenFile>>;
  /** The whole file, up to a limit. */
  readonly readFile: (path: WorkspacePath, options?: ReadFileOptions) => Promise<Result<Uint8Array>>;
  /** Replaces or creates the file in one step, with the directories above it. */
  readonly writeFile: (
    path: WritablePath,
    content: Uint8Array,
    options?: WriteFileOptions,
  ) => Promise<Result<undefined>>;
  /** Removes the file, if it still is what was expected. */
  readonly removeFile: (
    path: WritablePath,
    expected?: Precondition,
    deadline?: Deadline,
  ) => Promise<Result<undefined>>;
}
