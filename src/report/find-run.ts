import {lstat, readdir} from 'node:fs/promises';
import {basename, dirname, join, resolve} from 'node:path';
import {fail} from '../core/failure/fail.ts';
import type {Failure} from '../core/failure/failure.ts';
import {type Err, ok, type Result} from '../core/result.ts';

const LOG = 'events.jsonl';

/**
 * The directory of a run that is named by its path, by its log, by its name below `runsRoot`, or as `latest`:
 * the one there that was written to last.
 */
export async function findRun(
  written: string,
  {cwd, runsRoot}: {readonly cwd: string; readonly runsRoot: string},
): Promise<Result<string>> {
  if (written === 'latest') return latestBelow(runsRoot);
  const path = resolve(cwd, written);
  const directory = basename(path) === LOG ? dirname(path) : path;
  if ((await logTime(directory)) !== undefined) return ok(directory);
  const isName = /^[\w.-]+$/.test(written) && !/^\.+$/.test(written);
  const named = join(runsRoot, written);
  if (isName && (await logTime(named)) !== undefined) return ok(named);
  const exists = await lstat(path).catch(() => undefined);
  if (exists !== undefined) {
    const message = `${JSON.stringify(path)} is no run: it has no ${LOG}. Name a run directory.`;
    return fail('file_not_found', message, {path});
  }
  const places = isName ? `neither ${path} nor ${named} is there` : `${path} is not there`;
  return fail(
    'file_not_found',
    `There is no run ${JSON.stringify(written)}: ${places}. Name a run directory, or "latest".`,
    {path},
  );
}

async function latestBelow(runsRoot: string): Promise<Result<string>> {
  const names = await readdir(runsRoot).catch((): string[] => []);
  const runs = await Promise.all(
    names.map(async name => ({path: join(runsRoot, name), time: await logTime(join(runsRoot, name))})),
  );
  const latest = runs
    .filter((run): run is {path: string; time: number} => run.time !== undefined)
    .sort((one, other) => other.time - one.time || (one.path < other.path ? 1 : -1))[0];
  return latest === undefined ? noRuns(runsRoot) : ok(latest.path);
}

function noRuns(runsRoot: string): Err<Failure> {
  const message = `No run is in ${runsRoot}. Runs that were started with --run-dir are named by their path.`;
  return fail('file_not_found', message, {path: runsRoot});
}

/** When the log of a run was written to; `undefined` where the directory is no run. */
async function logTime(directory: string): Promise<number | undefined> {
  try {
    const info = await lstat(join(directory, LOG));
    return info.isFile() ? info.mtimeMs : undefined;
  } catch {
    return undefined;
  }
}
