// Two locks: a file between processes, which a dead holder loses, and a mutex by key within this process.
import {closeSync, linkSync, openSync, readFileSync, statSync, unlinkSync, writeSync} from 'node:fs';
import {orAborted} from '../core/async.ts';
import {type Clock, every, randomHex} from '../core/clock.ts';
import {errorCode, ifRefused} from './errors.ts';
import {livenessOf, ownIdentity, type ProcessIdentity} from './process.ts';

interface FileLockOptions {
  readonly clock: Clock;
  /** How long another holder is waited for; by default not at all. */
  readonly waitMs?: number | undefined;
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined;
}

/** `busy`: another process holds it; undefined where what the file says could not be read. */
type LockOutcome =
  | {readonly state: 'held'; readonly release: () => void}
  | {readonly state: 'busy'; readonly holder: ProcessIdentity | undefined};

const POLL_MS = 4;
/** A holder that cannot be looked at from here shows by this that it lives. */
const BEAT_MS = 2_000;
const SILENT_MS = 20_000;
/** A lock is broken under a lock of its own, and that one as well: each level needs a process that died there. */
const MAX_DEPTH = 3;

/** What is in locks that this process gave up and could not remove: they keep nobody out. */
const abandoned = new Set<string>();

/**
 * One holder at a time, in this process and in all others. The lock is a file that is made whole or not at
 * all; its content is unique, so only its holder or, where that is gone, whoever holds the lock above it
 * removes it. A holder is gone if its process is; one on another host or in another PID namespace, if its
 * file has not been touched for 20 seconds. Throws what the system throws.
 */
export async function takeFileLock(path: string, options: FileLockOptions): Promise<LockOutcome> {
  const {clock, waitMs = 0, signal} = options;
  const giveUp = clock.monotonic() + waitMs;
  for (;;) {
    const release = tryTake(path, clock, 0);
    if (release !== undefined) return {state: 'held', release};
    if (signal?.aborted === true || clock.monotonic() >= giveUp) {
      return {state: 'busy', holder: parseHolder(read(path))};
    }
    await new Promise<void>(resume => {
      clock.after(POLL_MS, resume);
    });
  }
}

/** Who holds the lock, as far as can be told from here; undefined for no process. */
export function lockHolder(path: string, clock: Clock): ProcessIdentity | undefined {
  const content = read(path);
  const now = (): number => fileSystemTime(path) ?? clock.now();
  return content === undefined || isDead(path, content, now) ? undefined : parseHolder(content);
}

/** That of the file system on which a lock lies; undefined where nothing can be written beside the lock. */
function fileSystemTime(path: string): number | undefined {
  const draft = `${path}.${randomHex(8)}.draft`;
  try {
    writeNew(draft, '');
    return modifiedAt(draft);
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return undefined;
  } finally {
    ifRefused(() => unlinkSync(draft));
  }
}

function tryTake(path: string, clock: Clock, depth: number): (() => void) | undefined {
  const content = JSON.stringify({...ownIdentity(), token: randomHex(8)});
  const draft = `${path}.${randomHex(8)}.draft`;
  writeNew(draft, content);
  try {
    if (!created(draft, path) && !(breakDead(path, draft, clock, depth) && created(draft, path)))
      return undefined;
  } finally {
    ifRefused(() => unlinkSync(draft));
  }
  const stopBeating = every(BEAT_MS, () => touch(path, content));
  return () => {
    stopBeating();
    release(path, content);
  };
}

/** True if the lock of a dead holder was removed. */
function breakDead(path: string, draft: string, clock: Clock, depth: number): boolean {
  const content = read(path);
  if (content === undefined) return true;
  // The draft was made just now: its time is the time of the file system that the lock lies on.
  if (depth === MAX_DEPTH || !isDead(path, content, () => modifiedAt(draft) ?? 0)) return false;
  const releaseGuard = tryTake(`${path}.break`, clock, depth + 1);
  if (releaseGuard === undefined) return false;
  try {
    removeIfEqual(path, content);
    return true;
  } finally {
    releaseGuard();
  }
}

function isDead(path: string, content: string, now: () => number): boolean {
  if (abandoned.has(content)) return true;
  const holder = parseHolder(content);
  const liveness = holder === undefined ? 'unknown' : livenessOf(holder);
  if (liveness !== 'unknown') return liveness === 'gone';
  const touched = modifiedAt(path);
  return touched !== undefined && now() - touched > SILENT_MS;
}

/** What the lock was for has happened: a lock that cannot be removed is no failure of that. */
function release(path: string, content: string): void {
  for (let tries = 0; tries < 2; tries += 1) {
    try {
      removeIfEqual(path, content);
      return;
    } catch (error) {
      if (errorCode(error) === undefined) throw error;
    }
  }
  abandoned.add(content);
}

function parseHolder(content: string | undefined): ProcessIdentity | undefined {
  try {
    const value: unknown = JSON.parse(content ?? '');
    const {pid, started, host, namespace} = value as Readonly<
      Partial<Record<keyof ProcessIdentity, unknown>>
    >;
    if (typeof pid !== 'number' || typeof started !== 'string') return undefined;
    if (typeof host !== 'string' || typeof namespace !== 'string') return undefined;
    return {pid, started, host, namespace};
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

function writeNew(path: string, content: string): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    try {
      writeSync(file, content);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    ifRefused(() => unlinkSync(path));
    throw error;
  }
}

function created(draft: string, path: string): boolean {
  const link = (): boolean => {
    linkSync(draft, path);
    return true;
  };
  return ifRefused(link, false, 'EEXIST');
}

/** Written anew, so that the time is that of the file system, which another machine compares with. */
function touch(path: string, content: string): void {
  ifRefused(() => {
    const file = openSync(path, 'r+');
    try {
      if (readFileSync(file, 'utf8') === content) writeSync(file, content, 0);
    } finally {
      closeSync(file);
    }
  });
}

function removeIfEqual(path: string, content: string): void {
  if (read(path) === content) unlinkSync(path);
}

function read(path: string): string | undefined {
  return ifRefused(() => readFileSync(path, 'utf8'), undefined, 'ENOENT');
}

function modifiedAt(path: string): number | undefined {
  return ifRefused(() => statSync(path).mtimeMs, undefined, 'ENOENT');
}

/** One holder at a time for each key, in this process; others wait in the order in which they came. */
export class Mutex {
  readonly #tails = new Map<string, Promise<void>>();

  /** The value lets the next one in; undefined if `signal` fired first. */
  async take(key: string, signal?: AbortSignal): Promise<(() => void) | undefined> {
    const before = this.#tails.get(key) ?? Promise.resolve();
    let letGo = (): void => {};
    const done = new Promise<void>(resolve => {
      letGo = resolve;
    });
    const tail = before.then(() => done);
    this.#tails.set(key, tail);
    const release = (): void => {
      letGo();
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    };
    if ((await orAborted(before, signal)) !== 'aborted') return release;
    // The place in the queue is given up, not jumped over: who comes next still waits for who is ahead.
    letGo();
    void tail.then(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    });
    return undefined;
  }
}
