import {requireString} from '../../core/require-argument.ts';
import type {Result} from '../../core/result.ts';
import type {FileSystem} from '../file-system.ts';
import {compileGlob} from './compile-glob.ts';
import {scanFiles} from './scan-files.ts';

/**
 * ADR 08: the files below `root` that a gitignore-style pattern (ruling W2) wants, relative to the
 * workspace, in bytewise order. Works on any file system, the one in memory included. Errors:
 * `invalid_params`, `path_escape`, `file_not_found`. Rejects with `TypeError` where an argument is no string.
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
  return start.ok ? scanFiles(fileSystem, start.value, glob.value) : start;
}
