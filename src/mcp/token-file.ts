import {readFile, rename, rm, writeFile} from 'node:fs/promises';
import {fail} from '../core/failure.ts';
import {randomHex} from '../core/random.ts';
import {ok, type Result} from '../core/result.ts';

export interface TokenFile {
  /** Removes the file, unless another server has written its own token since. */
  readonly remove: () => Promise<void>;
}

/** Writes the token where only its owner can read it. Replaces a file or a link of that name; follows none. */
export async function writeTokenFile(path: string, token: string): Promise<Result<TokenFile>> {
  const temporary = `${path}.${randomHex(6)}.tmp`;
  try {
    await writeFile(temporary, `${token}\n`, {flag: 'wx', mode: 0o600});
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, {force: true}).catch(() => {});
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    return fail(
      'io_error',
      `The bearer token cannot be written to ${path} (${code}). Name a file in a directory that exists and is yours.`,
      {path, error: code, operation: 'write'},
    );
  }
  return ok({
    remove: async () => {
      const content = await readFile(path, 'utf8').catch(() => '');
      if (content === `${token}\n`) await rm(path, {force: true}).catch(() => {});
    },
  });
}
