import {constants} from 'node:fs';
import {access, realpath, stat} from 'node:fs/promises';
import {delimiter, isAbsolute, join} from 'node:path';

/** In the order in which they are looked for, each in all of `PATH`. */
const NAMES = [
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
  'chrome-headless-shell',
];

/** FR-WF-11: the binary at `chromiumPath`, or the first known name in `PATH`. */
export async function findChromium(chromiumPath: string, path: string): Promise<string | undefined> {
  if (chromiumPath !== '') return (await isExecutable(chromiumPath)) ? chromiumPath : undefined;
  for (const name of NAMES) {
    const found = await findProgram(name, path);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The file that a shell would execute. Entries of `PATH` that are not absolute are skipped. */
export async function findProgram(name: string, path: string): Promise<string | undefined> {
  for (const directory of path.split(delimiter)) {
    if (!isAbsolute(directory)) continue;
    const candidate = join(directory, name);
    if (await isExecutable(candidate)) return candidate;
  }
  return undefined;
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(await realpath(path))).isFile();
  } catch {
    return false;
  }
}
