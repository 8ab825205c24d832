import type {Result} from '../../core/result.ts';
import {type OpenFile, readWhole} from '../open-file.ts';
import {IgnoreScope} from './ignore-scope.ts';
import {parseGitignore} from './parse-gitignore.ts';

/** A longer .gitignore is taken for none. */
const MAX_BYTES = 256 * 1024;

/** What holds in a directory with this .gitignore; one that cannot be read, such as a link, says nothing. `depth`: how many names lead to it. */
export async function extendScope(
  above: IgnoreScope | undefined,
  depth: number,
  file: Result<OpenFile>,
): Promise<IgnoreScope | undefined> {
  const content = file.ok ? await readWhole(file.value, {maxBytes: MAX_BYTES}) : file;
  if (!content.ok) return above;
  return new IgnoreScope(above, depth, parseGitignore(new TextDecoder().decode(content.value)));
}
