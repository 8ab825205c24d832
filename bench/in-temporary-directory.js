import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

/** Gives `work` a directory of its own, which is gone when it ends, however it ends. */
export async function inTemporaryDirectory(work) {
  const directory = mkdtempSync(join(tmpdir(), 'forge-bench-'));
  try {
    return await work(directory);
  } finally {
    rmSync(directory, {recursive: true, force: true});
  }
}
