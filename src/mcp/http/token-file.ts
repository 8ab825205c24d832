import {readFile, rm} from 'node:fs/promises';
import {fail} from '../../core/failure/fail.ts';
import {ok, type Result} from '../../core/result.ts';
import {errorReason} from '../../system/error-code.ts';
import {replaceFile} from '../../system/replace-file.ts';

export interface TokenFile {
  /** Removes the file, unless another server has written its own token since. */
  readonly remove: () => Promise<void>;
}

/** Writes the token where only its owner can read it. Replaces a file or a link of that name; follows none. */
export async function writeTokenFile(path: string, token: string): Promise<Result<TokenFile>> {
  try {
    await replaceFile(path, `${token}\n`);
  } catch (error) {
    const code = errorReason(error);
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
