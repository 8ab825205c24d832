import {compileInto} from './compile-into.ts';
import {temporaryDirectory} from './temporary-directory.ts';

/** The same as `compileInto`, in a directory that is gone with the test. The value is that directory. */
export function compileSources(...paths: readonly string[]): string {
  const directory = temporaryDirectory();
  compileInto(directory, paths);
  return directory;
}
