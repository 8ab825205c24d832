import {existsSync} from 'node:fs';
import {mkdir, rename} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {pack} from '../../scripts/release/unpack-package.js';
import {systemClock} from '../../src/core/clock.ts';
import {takeFileLock} from '../../src/system/file-lock.ts';

/**
 * The tarball of the checkout with its dist/, as npm packs it. The first caller of a run packs; the others, in any
 * process, wait for it. It lies in the temporary directory of the run, which is removed with the run.
 */
export async function packedPackage(): Promise<string> {
  const tarball = join(tmpdir(), 'packed/forge-tools.tgz');
  await mkdir(join(tarball, '..'), {recursive: true});
  const lock = await takeFileLock(`${tarball}.lock`, {clock: systemClock, waitMs: 120_000});
  if (lock.state !== 'held') throw new Error(`Another test packs for two minutes: ${tarball}.lock`);
  try {
    // Renamed at the end: a pack that was killed leaves no tarball under this name.
    if (!existsSync(tarball)) await rename(await pack(join(tarball, '../draft')), tarball);
    return tarball;
  } finally {
    lock.release();
  }
}
