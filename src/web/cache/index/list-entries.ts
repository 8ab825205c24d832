import {lstat, readdir, rm} from 'node:fs/promises';
import {join} from 'node:path';
import {expectedErrorCode} from '../../../system/error-code.ts';

export interface ListedEntry {
  readonly key: string;
  readonly size: number;
}

const SHARD = /^[0-9a-f]{2}$/;
const ENTRY = /^([0-9a-f]{64})\.json$/;
/** Of an entry, or of the journal beside the shards. */
const TEMPORARY = /^(?:[0-9a-f]{64}|changes)\.tmp\.[0-9a-f]+$/;
/** A write lasts milliseconds; what is this old was left by a process that died. */
const STALE_MS = 3_600_000;
const SHARDS_AT_ONCE = 8;

/** All entries below the directory, by name and size only. Clears away what dead writers left. */
export async function listEntries(directory: string, now: number): Promise<readonly ListedEntry[]> {
  const names = await namesIn(directory);
  for (const name of names) if (TEMPORARY.test(name)) await lookAt(directory, name, now);
  const shards = names.filter(name => SHARD.test(name));
  const entries: ListedEntry[] = [];
  const listSome = async (): Promise<void> => {
    for (let shard = shards.pop(); shard !== undefined; shard = shards.pop()) {
      for (const name of await namesIn(join(directory, shard))) {
        const entry = await lookAt(join(directory, shard), name, now);
        if (entry?.key.startsWith(shard)) entries.push(entry);
      }
    }
  };
  await Promise.all(Array.from({length: SHARDS_AT_ONCE}, listSome));
  return entries;
}

async function lookAt(shard: string, name: string, now: number): Promise<ListedEntry | undefined> {
  const key = ENTRY.exec(name)?.[1];
  if (key === undefined && !TEMPORARY.test(name)) return undefined;
  const path = join(shard, name);
  try {
    const status = await lstat(path);
    if (key !== undefined) return status.isFile() ? {key, size: status.size} : undefined;
    if (now - status.mtimeMs > STALE_MS) await rm(path, {force: true});
  } catch (error) {
    // Gone since it was listed, or not ours to touch.
    expectedErrorCode(error);
  }
  return undefined;
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    expectedErrorCode(error);
    return [];
  }
}
