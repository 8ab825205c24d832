import {constants} from 'node:fs';
import {access} from 'node:fs/promises';
import {delimiter, isAbsolute, join} from 'node:path';

const STANDARD_PATH = '/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin';

/** Absolute path of a program of the host. Relative entries of `PATH` would let a workspace provide it. */
export async function findProgram(name: string, path: string | undefined): Promise<string | undefined> {
  for (const directory of `${path ?? ''}${delimiter}${STANDARD_PATH}`.split(delimiter)) {
    if (!isAbsolute(directory)) continue;
    const candidate = join(directory, name);
    const isExecutable = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isExecutable) return candidate;
  }
  return undefined;
}
