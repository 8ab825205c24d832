import {chmodSync, mkdtempSync, realpathSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

let directory: string | undefined;

/** For the whole run: what tests and their programs leave is no part of the next run, and goes with this one. */
export function setup(): void {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'forge-tests-')));
  // Some tests are other users.
  chmodSync(directory, 0o1777);
  process.env['TMPDIR'] = directory;
}

export function teardown(): void {
  if (directory !== undefined) rmSync(directory, {recursive: true, force: true});
}
