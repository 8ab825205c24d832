import {unlinkSync} from 'node:fs';
import {ok, type Result} from '../core/result.ts';
import type {Deadline} from './deadline.ts';
import {ioFailure} from './io-failure.ts';
import {entryVersion} from './jail/entry-version.ts';
import {openParent, type RootHandle} from './jail/open-path.ts';
import {type Durability, synchronised} from './jail/staged-file.ts';
import {checkTarget, inspectTarget, type Precondition} from './jail/write-target.ts';
import {fileNotFound, staleRead} from './refusals.ts';
import type {WritablePath} from './workspace-path.ts';

/** Removes a file, if `expected` holds right before (else `stale_read`). */
export async function removeFile(
  rootHandle: RootHandle,
  path: WritablePath,
  expected?: Precondition,
  deadline?: Deadline,
): Promise<Result<Durability>> {
  const parent = openParent(rootHandle, path);
  if (!parent.ok) return parent;
  const {directory, name} = parent.value;
  try {
    const present = inspectTarget(rootHandle, parent.value, path);
    if (!present.ok) return present;
    if (present.value === undefined) return fileNotFound(path);
    const checked = await checkTarget(rootHandle, parent.value, path, expected, deadline);
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
