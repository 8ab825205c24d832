import type {Result} from '../../core/result.ts';
import {type OpenFile, readWhole} from '../open-file.ts';

/** A longer .gitignore is taken for none. */
const MAX_BYTES = 256 * 1024;

/** The text of a .gitignore; undefined for one that cannot be read, such as a link. */
export async function readGitignore(file: Result<OpenFile>): Promise<string | undefined> {
  const content = file.ok ? await readWhole(file.value, {maxBytes: MAX_BYTES}) : file;
  return content.ok ? new TextDecoder().decode(content.value) : undefined;
}
