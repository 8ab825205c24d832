import {constants} from 'node:fs';
import {access, stat} from 'node:fs/promises';
import {findProgram, type ProgramPlaces} from '../../system/find-program.ts';

/** In the order in which they are looked for, each in all places. */
export const CHROMIUM_NAMES = [
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
  'chrome-headless-shell',
] as const;

/** FR-WF-11: the binary at `chromiumPath`, which the operator answers for, or the first known name that may be run. */
export async function findChromium(chromiumPath: string, places: ProgramPlaces): Promise<string | undefined> {
  if (chromiumPath !== '') return (await isExecutable(chromiumPath)) ? chromiumPath : undefined;
  for (const name of CHROMIUM_NAMES) {
    const found = await findProgram(name, places);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
