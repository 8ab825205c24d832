// What a picture of a report is made from. The page itself has times in it, which differ from run to run.
import {createHash} from 'node:crypto';
import {readdir, readFile} from 'node:fs/promises';

/** A hash of the files that every report page has, and of the run that the picture shows. */
export async function reportSource(recorded) {
  const assets = new URL('../assets/report/', import.meta.url);
  const hash = createHash('sha256');
  for (const name of (await readdir(assets)).sort()) hash.update(await readFile(new URL(name, assets)));
  return hash.update(recorded).digest('hex');
}
