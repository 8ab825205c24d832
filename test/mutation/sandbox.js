import {chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {basename, join} from 'node:path';

/** Linked instead. */
const LEFT_OUT = new Set(['node_modules']);

/**
 * A copy of the working tree, as it is now, for Stryker to write in; the tree itself is only read. What
 * the tests write goes below it too: a mutant that is stopped half way cleans nothing up.
 */
export function openSandbox(project) {
  const root = mkdtempSync(join(tmpdir(), 'forge-mutants-'));
  // Tests run some of it as another user.
  chmodSync(root, 0o755);
  const filter = source => !LEFT_OUT.has(basename(source));
  for (const part of ['src', 'test', 'vocabulary', 'assets', 'schemas', 'package.json', 'tsconfig.json']) {
    cpSync(join(project, part), join(root, part), {recursive: true, filter});
  }
  symlinkSync(join(project, 'node_modules'), join(root, 'node_modules'));
  const temporary = join(root, 'tmp');
  mkdirSync(temporary);
  return {root, temporary, remove: () => rmSync(root, {recursive: true, force: true})};
}
