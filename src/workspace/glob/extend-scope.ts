import type {Result} from '../../core/result.ts';
import type {OpenFile} from '../open-file.ts';
import {IgnoreScope} from './ignore-scope.ts';
import {parseGitignore} from './parse-gitignore.ts';
import {readGitignore} from './read-gitignore.ts';

/** What holds in a directory with this .gitignore. `depth`: how many names lead to it. */
export async function extendScope(
  above: IgnoreScope | undefined,
  depth: number,
  file: Result<OpenFile>,
): Promise<IgnoreScope | undefined> {
  const text = await readGitignore(file);
  return text === undefined ? above : new IgnoreScope(above, depth, parseGitignore(text));
}
