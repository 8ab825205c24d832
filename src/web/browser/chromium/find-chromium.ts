import {constants} from 'node:fs';
import {access, stat} from 'node:fs/promises';
import {findProgram, isProgramToTrust, type ProgramPlaces} from '../../../system/find-program.ts';
import {chromiumPlaces} from '../chromium-places.data.ts';

/** In the order in which they are looked for, each in all places. */
export const CHROMIUM_NAMES = [
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
  'chrome-headless-shell',
] as const;

/**
 * FR-WF-11: the binary at `chromiumPath`, which the operator answers for, or the first known name that may be run, or
 * the first application of the system that may be.
 */
export async function findChromium(
  chromiumPath: string,
  places: ProgramPlaces,
  applications: readonly string[] = chromiumPlaces(process.platform),
): Promise<string | undefined> {
  if (chromiumPath !== '') return (await isExecutable(chromiumPath)) ? chromiumPath : undefined;
  for (const name of CHROMIUM_NAMES) {
    const found = await findProgram(name, places);
    if (found !== undefined) return found;
  }
  for (const path of applications) {
    if (await isProgramToTrust(path, places.untrustedTrees)) return path;
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
