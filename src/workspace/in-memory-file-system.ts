import {ok, type Result} from '../core/result.ts';
import {contentHash} from './content-hash.ts';
import type {EntryInfo} from './entry-info.ts';
import type {FileSystem, WriteFileOptions} from './file-system.ts';
import type {Precondition} from './jail/write-target.ts';
import type {ReadFileOptions} from './open-file.ts';
import {type OpenFile, readWhole} from './open-file.ts';
import {isProtectedName} from './protect/protected-name.ts';
import {fileNotFound, notADirectory, notAFile, staleRead} from './refusals.ts';
import {bytewise} from './walk/bytewise.ts';
import {
  parseWorkspacePath,
  parseWritablePath,
  pathNames,
  type WorkspacePath,
  type WritablePath,
} from './workspace-path.ts';

interface StoredFile {
  readonly content: Uint8Array;
  readonly mode: number;
}

/** What absolute paths are inside of. */
const ROOT: readonly [string] = ['/workspace'];

/**
 * Files in a `Map`, for tests of tools and hosts. Directories are there where files are. Content
 * is copied on its way in and out.
 */
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
