import {spawnSync} from 'node:child_process';
import {chmodSync, cpSync, existsSync} from 'node:fs';
import {join, relative} from 'node:path';
import {temporaryDirectory} from './temporary-directory.ts';

const CHECKOUT = join(import.meta.dirname, '../..');
/** What programs of the tests that run as somebody else import. */
const IMPORTED = ['package.json', 'dist/core', 'dist/system', 'dist/sandbox'];

/**
 * A path by which a user can load a file of the checkout, with what is built. That is the file itself, or a copy
 * where only root can enter a directory above the checkout (a clone in root's home). Call it inside a test.
 */
export function fileForUser(path: string, user: number): string {
  if (spawnSync('cat', [path], {uid: user, gid: user, cwd: '/', stdio: 'ignore'}).status === 0) return path;
  const copy = temporaryDirectory();
  chmodSync(copy, 0o755);
  for (const part of [...IMPORTED, relative(CHECKOUT, path)]) {
    const source = join(CHECKOUT, part);
    if (existsSync(source)) cpSync(source, join(copy, part), {recursive: true});
  }
  // What was cloned with a closed umask stays closed in a copy.
  spawnSync('chmod', ['-R', 'a+rX', copy]);
  return join(copy, relative(CHECKOUT, path));
}
