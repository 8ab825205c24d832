import {open, readdir} from 'node:fs/promises';
import {join} from 'node:path';

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
