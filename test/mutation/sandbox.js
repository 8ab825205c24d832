import {chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {basename, join} from 'node:path';

/**
 * A copy of the working tree, as it is now, for Stryker to write in; the tree itself is only read. What
 * the tests write goes below it too: a mutant that is stopped half way cleans nothing up.
 */
export function openSandbox(project) {
  const root = mkdtempSync(join(tmpdir(), 'forge-mutants-'));
  // Tests run some of it as another user.
  chmodSync(root, 0o755);
  const filter = source => basename(source) !== 'node_modules';
  for (const part of ['src', 'test', 'vocabulary', 'assets', 'package.json', 'tsconfig.json']) {
    cpSync(join(project, part), join(root, part), {recursive: true, filter});
  }
  // Tests that compile a part of the package take schemas from the build.
  for (const part of ['node_modules', 'dist']) symlinkSync(join(project, part), join(root, part));
  const temporary = join(root, 'tmp');
  mkdirSync(temporary);
  return {root, temporary, remove: () => rmSync(root, {recursive: true, force: true})};
}
