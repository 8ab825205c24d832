import {lstat, mkdir, readdir, rm, rmdir} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import type {Clock} from '../../core/clock.ts';
import {fail} from '../../core/failure/fail.ts';
import {randomHex} from '../../core/random.ts';
import {ok, type Result} from '../../core/result.ts';
import {expectedErrorCode} from '../../system/error-code.ts';
import {replaceFile} from '../../system/replace-file.ts';

/** Unfinished files, below the output directory. A write lasts milliseconds; what is this old was left by a crash. */
const PARTIAL = '.partial';
const STALE_MS = 3_600_000;

/** The files of a batch. A name holds a whole page or nothing, whatever happens in between. */
export class PageFiles {
  readonly #out: string;
  readonly #made = new Set<string>();

  private constructor(out: string) {
    this.#out = out;
  }

  /** Makes the directory, and clears away what runs that were killed left in it. */
  static async open(out: string, clock: Clock): Promise<Result<PageFiles>> {
    const partial = join(out, PARTIAL);
    try {
      await mkdir(partial, {recursive: true});
      for (const name of await readdir(partial)) {
        const path = join(partial, name);
        if (clock.now() - (await lstat(path)).mtimeMs > STALE_MS) await rm(path, {force: true});
      }
      return ok(new PageFiles(out));
    } catch (error) {
      return refused(partial, error);
    }
  }

  /** Writes or replaces one file; `name` is relative, with `/`. */
  async write(name: string, text: string): Promise<Result<undefined>> {
    const path = join(this.#out, name);
    const temporary = join(this.#out, PARTIAL, randomHex(8));
    try {
      await this.#makeDirectory(dirname(path));
      await replaceFile(path, text, {mode: 0o666, temporary});
      return ok();
    } catch (error) {
      return refused(path, error);
    }
  }

  async close(): Promise<void> {
    // Another run may be writing into the same directory; then it stays.
    await rmdir(join(this.#out, PARTIAL)).catch(() => {});
  }

  async #makeDirectory(path: string): Promise<void> {
    if (this.#made.has(path)) return;
    await mkdir(path, {recursive: true});
    this.#made.add(path);
  }
}

function refused(path: string, error: unknown): Result<never> {
  const code = expectedErrorCode(error);
  return fail('io_error', `${path} cannot be written: ${code}. Check permissions and free space.`, {
    path,
    error: code,
    operation: 'write',
  });
}
