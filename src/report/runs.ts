// Lists runs, and finds the one that a name means.
import {lstat, open, readdir} from 'node:fs/promises';
import {basename, dirname, join, resolve} from 'node:path';
import {type Err, type Failure, fail, ok, type Result} from '../core/result.ts';
import {isOurRunName} from '../runtime/kept-runs.ts';

export interface ListedRun {
  readonly name: string;
  readonly path: string;
  /** When its log was written to last, in milliseconds since 1970. */
  readonly time: number;
  readonly calls: number;
  /** What was called, each tool once, in the order of their first calls. */
  readonly tools: readonly string[];
  /** Whether its session was closed; else it runs, or was killed. */
  readonly ended: boolean;
}

/** A log beyond it is counted up to here. */
const MOST_BYTES = 64 * 1024 * 1024;

/** The runs below a directory, the one that was written to last first. What is no run is left out. */
export async function listRuns(runsRoot: string, most: number): Promise<readonly ListedRun[]> {
  const names = await readdir(runsRoot).catch((): string[] => []);
  const times = await Promise.all(
    names.map(async name => ({name, time: await timeOf(join(runsRoot, name, 'events.jsonl'))})),
  );
  const latest = times
    .filter((run): run is {name: string; time: number} => run.time !== undefined)
    .sort((one, other) => other.time - one.time || (one.name < other.name ? 1 : -1))
    .slice(0, most);
  const runs = [];
  for (const {name, time} of latest) {
    const path = join(runsRoot, name);
    runs.push({name, path, time, ...(await readLog(join(path, 'events.jsonl')))});
  }
  return runs;
}

async function timeOf(log: string): Promise<number | undefined> {
  const file = await open(log, 'r').catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const info = await file.stat();
    return info.isFile() ? info.mtimeMs : undefined;
  } finally {
    await file.close();
  }
}

async function readLog(log: string): Promise<Pick<ListedRun, 'calls' | 'tools' | 'ended'>> {
  const tools = new Set<string>();
  let calls = 0;
  let ended = false;
  const file = await open(log, 'r').catch(() => undefined);
  if (file === undefined) return {calls, tools: [], ended};
  try {
    for await (const line of file.readLines({end: MOST_BYTES - 1, encoding: 'utf8'})) {
      const event = /^\{"seq":\d+,"time":"[^"]*","event":"(\w+)"/.exec(line)?.[1];
      ended = event === 'session_ended';
      if (event !== 'tool_call_started') continue;
      calls += 1;
      const tool = /"tool":"(\w{1,64})"/.exec(line)?.[1];
      if (tool !== undefined) tools.add(tool);
    }
  } finally {
    await file.close();
  }
  return {calls, tools: [...tools], ended};
}

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
  if (isOurRunName(written)) {
    const message = `The run ${JSON.stringify(written)} is gone: old runs are removed (runs.keep_days, runs.keep_mb), or its name has a typo. Its steps can no longer be undone. "forge-tools runs" lists what is kept.`;
    return fail('file_not_found', message, {path: named});
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
