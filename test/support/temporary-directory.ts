import {mkdtempSync, realpathSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {onTestFinished} from 'vitest';

/** A fresh directory that is gone when the test is. Call it inside a test. */
export function temporaryDirectory(parent = tmpdir()): string {
  const directory = realpathSync(mkdtempSync(join(parent, 'forge-test-')));
  onTestFinished(() => rmSync(directory, {recursive: true, force: true}));
  return directory;
}
