import {renameSync, unlinkSync} from 'node:fs';
import {ok, type Result} from '../core/result.ts';
import type {Deadline} from './deadline.ts';
import {entryVersion} from './entry-version.ts';
import {ioFailure} from './io-failure.ts';
import {type Ground, pinParent} from './pin-path.ts';
import {fileNotFound, staleRead} from './refusals.ts';
import {type Durability, synchronised} from './staged-file.ts';
import {syncDirectory} from './sync-directory.ts';
import type {WritablePath} from './workspace-path.ts';
import {checkTarget, inspectTarget, type Precondition} from './write-target.ts';

/** Renames a file, over another one if there is one. The directory of `to` must exist. */
export async function moveFile(
  ground: Ground,
  from: WritablePath,
  to: WritablePath,
): Promise<Result<undefined>> {
  const source = pinParent(ground, from);
  if (!source.ok) return source;
  const target = pinParent(ground, to);
  if (!target.ok) {
    source.value.directory.close();
    return target;
  }
  try {
    const moved = inspectTarget(ground, source.value, from);
    if (!moved.ok) return moved;
    if (moved.value === undefined) return fileNotFound(from);
    const replaced = inspectTarget(ground, target.value, to);
    if (!replaced.ok) return replaced;
    renameSync(
      `${source.value.directory.address}/${source.value.name}`,
      `${target.value.directory.address}/${target.value.name}`,
    );
    await syncDirectory(target.value.directory);
    await syncDirectory(source.value.directory);
    return ok();
  } catch (error) {
    return ioFailure(error, from, 'rename');
  } finally {
    source.value.directory.close();
    target.value.directory.close();
  }
}

/** Removes a file, if `expected` holds right before (else `stale_read`). */
export async function removeFile(
  ground: Ground,
  path: WritablePath,
  expected?: Precondition,
  deadline?: Deadline,
): Promise<Result<Durability>> {
  const parent = pinParent(ground, path);
  if (!parent.ok) return parent;
  const {directory, name} = parent.value;
  try {
    const present = inspectTarget(ground, parent.value, path);
    if (!present.ok) return present;
    if (present.value === undefined) return fileNotFound(path);
    const checked = await checkTarget(ground, parent.value, path, expected, deadline);
    if (!checked.ok) return checked;
    // W19: the comparison let others run.
    if (checked.value !== undefined && checked.value !== entryVersion(parent.value)) return staleRead(path);
    unlinkSync(`${directory.address}/${name}`);
    return ok(await synchronised(directory));
  } catch (error) {
    return ioFailure(error, path, 'remove');
  } finally {
    directory.close();
  }
}
