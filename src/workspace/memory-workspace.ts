// Files in memory and a glob over them, for hosts and their tests.
import type {Deadline} from '../core/deadline.ts';
import {ok, type Result, requireString} from '../core/result.ts';
import type {Precondition} from './jail/target.ts';
import {contentHash, type EntryInfo, type OpenFile, type ReadFileOptions, readWhole} from './open-file.ts';
import {fileNotFound, notADirectory, notAFile, staleRead} from './refusals.ts';
import {compileGlob} from './walk/glob.ts';
import {bytewise} from './walk/tree-walk.ts';
import {
  isProtectedName,
  parseWorkspacePath,
  parseWritablePath,
  pathNames,
  type WorkspacePath,
  type WritablePath,
} from './workspace-path.ts';

interface WriteFileOptions {
  /** What must be there right before the write; else `stale_read`, and nothing is written. */
  readonly expected?: Precondition | undefined;
  /** Permission bits; without it an existing file keeps its own. */
  readonly mode?: number | undefined;
  readonly deadline?: Deadline | undefined;
}

/** Files that `globFiles` looks through, such as an `InMemoryFileSystem`. (ADR 08) */
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

interface StoredFile {
  readonly content: Uint8Array;
  readonly mode: number;
}

/** What absolute paths are inside of. */
const ROOT: readonly [string] = ['/workspace'];

/** Files in memory, for tests of tools and hosts. Content is copied on its way in and out. */
export class InMemoryFileSystem implements FileSystem {
  readonly #files = new Map<string, StoredFile>();

  /** `files`: path → text or bytes. */
  constructor(files: Readonly<Record<string, string | Uint8Array>> = {}) {
    for (const [path, content] of Object.entries(files)) {
      const parsed = parseWorkspacePath(ROOT, path);
      if (!parsed.ok) throw new TypeError(parsed.error.message);
      const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content.slice();
      this.#files.set(parsed.value, {content: bytes, mode: 0o644});
    }
  }

  /** A copy of what is stored now, as bytes, by path. */
  get files(): ReadonlyMap<string, Uint8Array> {
    return new Map([...this.#files].map(([path, file]) => [path, file.content.slice()]));
  }

  /** The text of a file; undefined where there is none. */
  text(path: string): string | undefined {
    const file = this.#files.get(path);
    return file === undefined ? undefined : new TextDecoder('utf-8', {ignoreBOM: true}).decode(file.content);
  }

  resolve(path: string): Result<WorkspacePath> {
    return parseWorkspacePath(ROOT, path);
  }

  resolveForWrite(path: string): Result<WritablePath> {
    return parseWritablePath(ROOT, path);
  }

  async stat(path: WorkspacePath): Promise<Result<EntryInfo>> {
    const file = this.#files.get(path);
    if (file !== undefined) {
      return ok({kind: 'file', size: file.content.length, mode: file.mode, links: 1});
    }
    if (!this.#isDirectory(path)) return fileNotFound(path);
    return ok({kind: 'directory', size: 0, mode: 0o755, links: 1});
  }

  async listFiles(directory: WorkspacePath): Promise<Result<readonly WorkspacePath[]>> {
    if (this.#files.has(directory)) return notADirectory(directory);
    if (!this.#isDirectory(directory)) return fileNotFound(directory);
    const paths = ([...this.#files.keys()] as WorkspacePath[]).filter(
      path =>
        isBelow(path, directory) && !pathNames(path).slice(pathNames(directory).length).some(isProtectedName),
    );
    return ok(paths.sort(bytewise));
  }

  async openFile(path: WorkspacePath): Promise<Result<OpenFile>> {
    const file = this.#files.get(path);
    if (file === undefined) return this.#isDirectory(path) ? notAFile(path, 'directory') : fileNotFound(path);
    const {content, mode} = file;
    return ok({
      path,
      info: {kind: 'file', size: content.length, mode, links: 1},
      read: async (into, position) => {
        const part = content.subarray(position, position + into.length);
        into.set(part);
        return part.length;
      },
      close: async () => {},
    });
  }

  async readFile(path: WorkspacePath, options?: ReadFileOptions): Promise<Result<Uint8Array>> {
    const file = await this.openFile(path);
    return file.ok ? readWhole(file.value, options) : file;
  }

  async writeFile(
    path: WritablePath,
    content: Uint8Array,
    options: WriteFileOptions = {},
  ): Promise<Result<undefined>> {
    if (this.#isDirectory(path)) return notAFile(path, 'directory');
    const names = pathNames(path);
    if (names.some((_, at) => at > 0 && this.#files.has(names.slice(0, at).join('/'))))
      return fileNotFound(path);
    const present = this.#files.get(path);
    const found = present === undefined ? 'absent' : contentHash(present.content);
    if (options.expected !== undefined && options.expected !== found) return staleRead(path);
    this.#files.set(path, {content: content.slice(), mode: options.mode ?? present?.mode ?? 0o644});
    return ok();
  }

  async removeFile(path: WritablePath, expected?: Precondition): Promise<Result<undefined>> {
    const present = this.#files.get(path);
    if (present === undefined)
      return this.#isDirectory(path) ? notAFile(path, 'directory') : fileNotFound(path);
    if (expected !== undefined && expected !== contentHash(present.content)) return staleRead(path);
    this.#files.delete(path);
    return ok();
  }

  #isDirectory(path: WorkspacePath): boolean {
    return path === '.' || [...this.#files.keys()].some(file => isBelow(file, path));
  }
}

function isBelow(path: string, directory: WorkspacePath): boolean {
  return directory === '.' || path.startsWith(`${directory}/`);
}

/**
 * Finds the files below `root` that match a pattern as in `.gitignore`. Paths are sorted, and relative to the workspace.
 * Fails with `invalid_params`, `path_escape` or `file_not_found`. Rejects with `TypeError` where an argument is not a
 * string. (ADR 08, ruling W2)
 */
export async function globFiles(
  fileSystem: Pick<FileSystem, 'resolve' | 'listFiles'>,
  pattern: string,
  root = '.',
): Promise<Result<readonly string[]>> {
  requireString('pattern', pattern);
  requireString('root', root);
  const glob = compileGlob(pattern, 'pattern');
  if (!glob.ok) return glob;
  const start = fileSystem.resolve(root);
  if (!start.ok) return start;
  const listed = await fileSystem.listFiles(start.value);
  if (!listed.ok) return listed;
  const above = start.value === '.' ? 0 : start.value.length + 1;
  return ok(listed.value.filter(path => glob.value.matchesPath(path.slice(above))));
}
