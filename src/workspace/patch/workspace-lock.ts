import {mkdir, open, readFile, stat, unlink} from 'node:fs/promises';
import {join} from 'node:path';
import type {Clock} from '../../core/clock.ts';
import {fail} from '../../core/failure.ts';
import {randomHex} from '../../core/random.ts';
import {ok, type Result} from '../../core/result.ts';
import {contentHash} from '../content-hash.ts';
import {attempt, errorCode} from '../io-failure.ts';
import {processIdentity} from './process-identity.ts';

export interface LockOptions {
  /** Outside the workspace; made if it is missing. */
  readonly directory: string;
  readonly clock: Clock;
  /** How long to wait for another holder. */
  readonly waitMs?: number;
}

const POLL_MS = 10;
/** A lock file that never got its content belongs to a process that died while it made it. */
const UNFINISHED_MS = 5_000;

/** What is in locks that this process gave up and could not remove: they hold nobody up. */
const abandoned = new Set<string>();

/** A name for the files that concern one workspace, as several may share a directory. */
export function workspaceKey(root: string): string {
  return contentHash(Buffer.from(root)).slice(0, 16);
}

/**
 * Only one process, and one call in it, changes a workspace at a time. The lock of a process that died
 * is taken over. The value releases it.
 */
export async function lockWorkspace(
  root: string,
  options: LockOptions,
): Promise<Result<() => Promise<void>>> {
  const {directory, clock, waitMs = 5_000} = options;
  const path = join(directory, `${workspaceKey(root)}.lock`);
  const content = JSON.stringify({
    pid: process.pid,
    identity: await processIdentity(process.pid),
    token: randomHex(8),
  });
  const giveUp = clock.monotonic() + waitMs;
  return attempt(path, 'lock', async () => {
    await mkdir(directory, {recursive: true, mode: 0o700});
    for (;;) {
      if (await createExclusively(path, content)) return () => release(path, content);
      await breakDeadLock(path, clock);
      if (clock.monotonic() > giveUp) return undefined;
      await new Promise<void>(resume => {
        clock.after(POLL_MS, resume);
      });
    }
  }).then(taken => {
    if (!taken.ok) return taken;
    if (taken.value !== undefined) return ok(taken.value);
    return fail(
      'io_error',
      `Another call is changing the workspace and holds ${path}. Try again in a moment.`,
      {
        path,
        error: 'EBUSY',
        operation: 'lock',
      },
    );
  });
}

async function createExclusively(path: string, content: string): Promise<boolean> {
  let created = false;
  try {
    const handle = await open(path, 'wx', 0o600);
    created = true;
    try {
      await handle.writeFile(content);
    } finally {
      await handle.close();
    }
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    // Ours, and nobody's lock: others would wait for it.
    if (created) await unlink(path).catch(() => {});
    throw error;
  }
}

/** What the lock was for has happened: a lock that cannot be removed is none of its failures. */
async function release(path: string, content: string): Promise<void> {
  for (let tries = 0; tries < 2; tries += 1) {
    try {
      return await removeIfEqual(path, content);
    } catch (error) {
      if (errorCode(error) === undefined) throw error;
    }
  }
  abandoned.add(content);
}

/** Two that see the same dead lock must not both remove it: the second might remove the first's new one. */
async function breakDeadLock(path: string, clock: Clock): Promise<void> {
  const dead = await deadContent(path, clock);
  if (dead === undefined) return;
  const guard = `${path}.break`;
  if (!(await createExclusively(guard, '-'))) {
    if (await isOld(guard, clock)) await removeIfEqual(guard, '-');
    return;
  }
  try {
    await removeIfEqual(path, dead);
  } finally {
    await removeIfEqual(guard, '-');
  }
}

/** What the lock file says if its holder is gone. */
async function deadContent(path: string, clock: Clock): Promise<string | undefined> {
  const content = await read(path);
  if (content === undefined) return undefined;
  if (abandoned.has(content)) return content;
  const match = /^\{"pid":(\d+),"identity":"([^"]*)"/.exec(content);
  if (match === null) return (await isOld(path, clock)) ? content : undefined;
  const alive = (await processIdentity(Number(match[1]))) === match[2];
  return alive ? undefined : content;
}

async function isOld(path: string, clock: Clock): Promise<boolean> {
  try {
    return clock.now() - (await stat(path)).mtimeMs > UNFINISHED_MS;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

async function removeIfEqual(path: string, content: string): Promise<void> {
  if ((await read(path)) === content) await unlink(path);
}

async function read(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
